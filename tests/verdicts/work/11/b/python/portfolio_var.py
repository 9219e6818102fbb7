"""Value at risk of a bond and option book: scenarios of rates and equity
moves are revalued in a worker process and the loss quantiles reported."""
import math
import multiprocessing
from dataclasses import dataclass

import numpy as np

SCENARIOS = 800
HORIZONS = 4
BONDS = 1500
OPTIONS = 1200
TENORS = np.array([0.25, 0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30])
HISTORY = 260
UNDERLYINGS = 400


@dataclass
class Market:
    zero: np.ndarray
    spot: np.ndarray
    volatility: np.ndarray


@dataclass
class Shock:
    number: int
    rates: np.ndarray
    equity: np.ndarray
    volatility: float


def make_history(rng):
    """Daily moves of the curve and of all underlyings, with common factors."""
    level, slope = rng.normal(0, 6e-4, (HISTORY, 1)), rng.normal(0, 3e-4, (HISTORY, 1))
    rates = level + slope * (TENORS / 30) + rng.normal(0, 5e-5, (HISTORY, len(TENORS)))
    market = rng.standard_t(5, (HISTORY, 1)) * 0.008
    beta = rng.uniform(0.5, 1.5, UNDERLYINGS)
    equity = market * beta + rng.normal(0, 0.01, (HISTORY, UNDERLYINGS))
    return rates, equity


def normal_cdf(x):
    """Abramowitz and Stegun 7.1.26 through the error function."""
    z = np.abs(x) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return 0.5 * (1 + np.sign(x) * (1 - series * np.exp(-z * z)))


class Book:
    def __init__(self, rng, market):
        self.market = market
        self.coupon = rng.uniform(0.01, 0.06, BONDS)
        self.maturity = rng.uniform(1, 29, BONDS)
        self.notional = rng.choice([1e5, 2.5e5, 1e6], BONDS)
        self.steps = np.arange(1, 31)
        self.times = np.minimum(self.steps[None, :], self.maturity[:, None])
        self.alive = (self.steps[None, :] < self.maturity[:, None] + 1).astype(float)
        self.underlying = rng.integers(0, UNDERLYINGS, OPTIONS)
        self.strike = market.spot[self.underlying] * rng.uniform(0.8, 1.2, OPTIONS)
        self.expiry = rng.uniform(0.1, 2.5, OPTIONS)
        self.count = rng.integers(-400, 600, OPTIONS).astype(float)

    def bonds(self, zero):
        discount = np.exp(-np.interp(self.times, TENORS, zero) * self.times) * self.alive
        final = np.exp(-np.interp(self.maturity, TENORS, zero) * self.maturity)
        return float((self.notional * (self.coupon * discount.sum(axis=1) + final)).sum())

    def options(self, spot, volatility, zero):
        s = spot[self.underlying]
        v = volatility[self.underlying] * np.sqrt(self.expiry)
        rate = np.interp(self.expiry, TENORS, zero)
        d1 = (np.log(s / self.strike) + rate * self.expiry) / v + 0.5 * v
        price = s * normal_cdf(d1) - self.strike * np.exp(-rate * self.expiry) * normal_cdf(d1 - v)
        return float((self.count * price).sum())

    def value(self, zero, spot, volatility):
        return self.bonds(zero) + self.options(spot, volatility, zero)


class RiskEngine:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        zero = 0.02 + 0.015 * (1 - np.exp(-TENORS / 6))
        self.market = Market(zero, rng.uniform(20, 300, UNDERLYINGS), rng.uniform(0.15, 0.5, UNDERLYINGS))
        self.history = make_history(rng)
        self.book = Book(rng, self.market)
        self.base = self.book.value(zero, self.market.spot, self.market.volatility)
        self.rng = rng

    def scenarios(self):
        rates, equity = self.history
        for number in range(SCENARIOS):
            days = self.rng.integers(0, HISTORY, (HORIZONS, 5))
            paths = [moves[days].sum(axis=1).cumsum(axis=0) for moves in (rates, equity)]
            yield Shock(number, *paths, self.rng.normal(0, 0.08))

    def revalue(self, shock):
        """The worst result along the path of the scenario."""
        volatility = self.market.volatility * math.exp(shock.volatility)
        return min(
            self.book.value(self.market.zero + rates, self.market.spot * np.exp(equity), volatility) - self.base
            for rates, equity in zip(shock.rates, shock.equity)
        )

    def run(self):
        with multiprocessing.Pool(1) as pool:
            return np.array(list(pool.imap(self.revalue, self.scenarios())))


def report(base, profits):
    losses = np.sort(-profits)
    at95, at99 = losses[int(0.95 * len(losses))], losses[int(0.99 * len(losses))]
    print(f"book {base:.0f}, scenarios {len(losses)}")
    print(f"VaR 95% {at95:.0f}, VaR 99% {at99:.0f}, shortfall {losses[losses >= at99].mean():.0f}")


def main():
    engine = RiskEngine(seed=2008)
    report(engine.base, engine.run())


if __name__ == "__main__":
    main()
