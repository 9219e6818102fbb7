"""Interprets borehole logs: despiking, baselines, volumes and pay zones."""
import io
import random

import numpy as np

CURVES = ("depth", "gamma", "density", "neutron", "sonic")


def make_las(well, rows, seed):
    rng = random.Random(seed)
    out = io.StringIO()
    out.write("~A well " + " ".join(CURVES) + "\n")
    gamma = 60.0
    for i in range(rows):
        gamma += 4 * (rng.random() - 0.5) - 0.02 * (gamma - 60)
        spike = 80 if rng.random() < 0.002 else 0
        out.write(f"{well} {1000 + i * 0.1524:.4f} {gamma + spike:.3f} {2.2 + 0.005 * (gamma - 60) + 0.02 * rng.random():.4f} "
                  f"{0.3 - 0.003 * (gamma - 60) + 0.02 * rng.random():.4f} {80 + 0.2 * gamma + rng.random():.3f}\n")
    return out.getvalue()


def parse(text):
    rows = []
    for line in text.splitlines():
        if line.startswith("~"):
            continue
        name, *values = line.split()
        rows.append([name] + [float(v) for v in values])
    return rows


class LogTable:
    def __init__(self, rows):
        cells = np.array(rows, dtype=object)
        self.well = cells[0, 0]
        self.columns = {name: cells[:, i + 1] for i, name in enumerate(CURVES)}

    def __getitem__(self, name):
        return self.columns[name]


def running_mean(values, width):
    total = np.concatenate([[0.0], np.cumsum(values)])
    inner = (total[width:] - total[:-width]) / width
    left = width // 2
    return np.concatenate([np.repeat(inner[:1], left), inner, np.repeat(inner[-1:], width - 1 - left)])


def despike(values, width=11, limit=30.0):
    base = running_mean(values, width)
    off = values - base
    return np.where(np.abs(off) > limit, base, values)


def shale_volume(gamma, clean, shale):
    index = np.clip((gamma - clean) / (shale - clean), 0.0, 1.0)
    return 0.083 * (2 ** (3.7 * index) - 1)


def porosity(density, neutron, shale):
    from_density = (2.65 - density) / (2.65 - 1.0)
    corrected = from_density - shale * 0.15
    mixed = ((corrected * corrected + neutron * neutron) / 2) ** 0.5
    return np.clip(mixed, 0.0, 0.45)


def pay_zones(table, clean, shale):
    gamma = despike(table["gamma"])
    volume = shale_volume(gamma, clean, shale)
    pores = porosity(table["density"], table["neutron"], volume)
    smooth = running_mean(pores, 21)
    good = (volume < 0.35) & (smooth > 0.27) & (table["sonic"] > 91.5)
    thickness = 0.1524 * np.count_nonzero(good)
    storage = float(np.sum(np.where(good, smooth, 0.0)) * 0.1524)
    return thickness, storage


def main():
    text = {f"W{k:02d}": make_las(f"W{k:02d}", 16000, k) for k in range(4)}
    for well, las in text.items():
        table = LogTable(parse(las))
        best = (0.0, 0.0, 0.0, 0.0)
        for clean in np.linspace(20, 50, 9):
            for shale in np.linspace(80, 120, 9):
                thickness, storage = pay_zones(table, clean, shale)
                best = max(best, (round(storage, 4), round(thickness, 3), float(clean), float(shale)))
        print(well, *best)


if __name__ == "__main__":
    main()
