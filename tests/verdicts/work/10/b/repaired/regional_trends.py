"""Regional warming trends from a gridded temperature archive.

For each region the area-weighted annual series is extracted from the grid, and
a trend with a block-bootstrap confidence interval is estimated.  Regions are
spread over a process pool."""
import math
import multiprocessing as mp
from dataclasses import dataclass

import numpy as np

YEARS, LATS, LONS = 70, 120, 240
REGIONS = 150
BOOTSTRAPS = 900
BLOCK = 5


@dataclass(frozen=True)
class Region:
    name: str
    lat0: int
    lat1: int
    lon0: int
    lon1: int


@dataclass(frozen=True)
class Trend:
    name: str
    slope: float
    low: float
    high: float

    @property
    def significant(self) -> bool:
        return self.low > 0 or self.high < 0


def synthesize(seed: int) -> np.ndarray:
    """Monthly-mean-like anomalies: polar amplification, wave pattern, red noise."""
    rng = np.random.default_rng(seed)
    lat = np.linspace(-89, 89, LATS)[:, None]
    lon = np.linspace(0, 2 * math.pi, LONS, endpoint=False)[None, :]
    pattern = 0.012 + 0.02 * (np.abs(lat) / 90) ** 2 + 0.012 * np.sin(3 * lon) * np.cos(np.radians(lat))
    field = np.empty((YEARS, LATS, LONS))
    red = np.zeros((LATS, LONS))
    for year in range(YEARS):
        red = 0.6 * red + rng.normal(scale=0.8, size=red.shape)
        field[year] = pattern * year + red + 0.3 * math.sin(year / 3.7)
    return field


def make_regions(seed: int) -> list[Region]:
    rng = np.random.default_rng(seed)
    out = []
    for i in range(REGIONS):
        lat0, lon0 = int(rng.integers(0, LATS - 20)), int(rng.integers(0, LONS - 30))
        out.append(Region(f"R{i:03d}", lat0, lat0 + int(rng.integers(4, 20)),
                          lon0, lon0 + int(rng.integers(4, 30))))
    return out


_analysis = None


def _install(analysis: "TrendAnalysis") -> None:
    global _analysis
    _analysis = analysis


def _analyse(region: Region) -> Trend:
    return _analysis.analyse(region)


class TrendAnalysis:
    def __init__(self, field: np.ndarray):
        self.field = field
        self.weights = np.cos(np.radians(np.linspace(-89, 89, LATS)))
        t = np.arange(YEARS, dtype=float)
        self.time = t - t.mean()
        self.norm = float((self.time ** 2).sum())

    def series(self, region: Region) -> np.ndarray:
        box = self.field[:, region.lat0:region.lat1, region.lon0:region.lon1]
        w = self.weights[region.lat0:region.lat1]
        return (box.mean(axis=2) * w).sum(axis=1) / w.sum()

    def slope(self, values: np.ndarray) -> np.ndarray:
        return values @ self.time / self.norm

    def analyse(self, region: Region) -> Trend:
        y = self.series(region)
        slope = float(self.slope(y))
        residual = y - y.mean() - slope * self.time
        rng = np.random.default_rng(sum(region.name.encode()) * 1009 + region.lat0)
        blocks = YEARS // BLOCK
        starts = rng.integers(0, YEARS - BLOCK + 1, size=(BOOTSTRAPS, blocks))
        index = (starts[:, :, None] + np.arange(BLOCK)).reshape(BOOTSTRAPS, -1)
        slopes = slope + self.slope(residual[index])
        low, high = np.percentile(slopes, [2.5, 97.5])
        return Trend(region.name, slope * 10, float(low) * 10, float(high) * 10)

    def run(self, regions: list[Region], processes: int) -> list[Trend]:
        with mp.get_context("fork").Pool(processes, _install, (self,)) as pool:
            return list(pool.imap(_analyse, regions))


def report(trends: list[Trend]) -> None:
    slopes = np.array([t.slope for t in trends])
    strongest = max(trends, key=lambda t: t.slope)
    significant = sum(t.significant for t in trends)
    print(f"{len(trends)} regions, {significant} significant")
    print(f"mean {slopes.mean():.4f} K/decade, spread {slopes.std():.4f}")
    print(f"strongest {strongest.name} {strongest.slope:.4f} "
          f"[{strongest.low:.4f}, {strongest.high:.4f}]")


def main() -> None:
    field = synthesize(seed=3)
    analysis = TrendAnalysis(field)
    report(analysis.run(make_regions(seed=4), processes=2))


if __name__ == "__main__":
    main()
