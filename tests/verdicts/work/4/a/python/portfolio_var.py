"""Monte Carlo value-at-risk of a book of stocks and options: correlated
factor scenarios, full revaluation, risk contributions per desk."""
import numpy as np

FACTORS = 60
STOCKS = 400
OPTIONS = 300
SCENARIOS = 180_000
BLOCK = 1000
HORIZON = 10 / 252
DESKS = 6


def normal_cdf(x):
    """Abramowitz and Stegun 26.2.17, absolute error below 1e-7."""
    a = np.abs(x)
    t = 1.0 / (1.0 + 0.2316419 * a)
    poly = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937
                + t * (-1.821255978 + t * 1.330274429))))
    upper = np.exp(-0.5 * a * a) * (0.3989422804014327 * poly)
    return np.where(x >= 0, 1.0 - upper, upper)


def black_scholes(spot, strike, vol, expiry, rate, sign):
    root = vol * np.sqrt(expiry)
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol * vol) * expiry) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * expiry)
    return sign * (spot * normal_cdf(sign * d1) - discounted * normal_cdf(sign * d2))


class Market:
    def __init__(self, rng):
        loading = rng.normal(0, 1, (FACTORS, 8))
        covariance = loading @ loading.T / 8 + np.diag(rng.uniform(0.2, 0.6, FACTORS))
        scale = 1 / np.sqrt(np.diag(covariance))
        self.correlation = covariance * np.outer(scale, scale)
        self.factor_vol = rng.uniform(0.08, 0.22, FACTORS)
        self.beta = rng.normal(0, 0.25, (STOCKS, FACTORS))
        self.beta[np.arange(STOCKS), rng.integers(0, FACTORS, STOCKS)] += 1.0
        self.idiosyncratic = rng.uniform(0.10, 0.30, STOCKS)
        self.spot = rng.uniform(10, 300, STOCKS)
        self.rate = 0.025
        systematic = self.factor_covariance()
        variance = np.einsum("if,fg,ig->i", self.beta, systematic, self.beta)
        self.stock_vol = np.sqrt(variance + self.idiosyncratic ** 2)
        self.shock = self.beta @ np.linalg.cholesky(systematic * HORIZON)
        self.shock_own = self.idiosyncratic * np.sqrt(HORIZON)
        self.drift = (self.rate - 0.5 * self.stock_vol ** 2) * HORIZON

    def factor_covariance(self):
        return self.correlation * np.outer(self.factor_vol, self.factor_vol)

    def scenarios(self, rng, n):
        """Stock prices at the horizon, (n, STOCKS)."""
        # antithetic pairs
        z = rng.standard_normal((n // 2, FACTORS))
        e = rng.standard_normal((n // 2, STOCKS)) * self.shock_own
        half = z @ self.shock.T + e
        returns = np.concatenate([half, -half])
        return self.spot * np.exp(returns + self.drift)


class Book:
    def __init__(self, market, rng):
        self.market = market
        self.shares = np.round(rng.normal(0, 800, STOCKS))
        self.stock_desk = rng.integers(0, DESKS, STOCKS)
        self.under = np.sort(rng.integers(0, STOCKS, OPTIONS))
        self.strike = market.spot[self.under] * rng.uniform(0.8, 1.2, OPTIONS)
        self.expiry = rng.uniform(0.1, 2.0, OPTIONS)
        self.vol = market.stock_vol[self.under] * rng.uniform(0.95, 1.15, OPTIONS)
        self.sign = rng.choice([-1.0, 1.0], OPTIONS)
        self.contracts = np.round(rng.normal(0, 3000, OPTIONS))
        self.option_desk = rng.integers(0, DESKS, OPTIONS)
        self.stock_weights = self.by_desk(self.stock_desk, self.shares)
        self.option_weights = self.by_desk(self.option_desk, self.contracts)
        self.today = self.price(market.spot[self.under], self.expiry)

    @staticmethod
    def by_desk(desk, quantity):
        weights = np.zeros((len(desk), DESKS))
        weights[np.arange(len(desk)), desk] = quantity
        return weights

    def price(self, spot, expiry):
        return black_scholes(spot, self.strike, self.vol, expiry, self.market.rate, self.sign)

    def profit(self, prices):
        """Profit and loss per scenario and desk."""
        stocks = (prices - self.market.spot) @ self.stock_weights
        options = self.price(prices[:, self.under], self.expiry - HORIZON) - self.today
        return stocks + options @ self.option_weights


def risk_report(profit, level):
    total = profit.sum(axis=1)
    n_tail = int(len(total) * (1 - level))
    order = np.argpartition(total, n_tail)
    tail = order[:n_tail]
    var = -total[order[n_tail]]
    shortfall = -total[tail].mean()
    contribution = -profit[tail].mean(axis=0)
    return var, shortfall, contribution


def bootstrap_error(total, level, rng, rounds=60):
    """Standard error of the value-at-risk from resampled scenarios."""
    n = len(total)
    k = int(n * (1 - level))
    ordered = np.sort(total)
    estimates = []
    for _ in range(rounds):
        # the k-th order statistic of a resample: its rank is binomial
        ranks = np.bincount(rng.integers(0, n, n), minlength=n).cumsum()
        estimates.append(-ordered[np.searchsorted(ranks, k + 1)])
    return float(np.std(estimates))


def main():
    rng = np.random.default_rng(2025)
    market = Market(rng)
    book = Book(market, rng)
    profit = np.empty((SCENARIOS, DESKS))
    for start in range(0, SCENARIOS, BLOCK):
        profit[start:start + BLOCK] = book.profit(market.scenarios(rng, BLOCK))
    for level in (0.95, 0.99):
        var, shortfall, contribution = risk_report(profit, level)
        error = bootstrap_error(profit.sum(axis=1), level, rng)
        print(f"{level:.0%} VaR {var:,.0f} (+/- {error:,.0f}), shortfall {shortfall:,.0f}")
        print("  by desk: " + ", ".join(f"{c:,.0f}" for c in contribution))
        assert abs(contribution.sum() - shortfall) < 1e-6 * abs(shortfall)


if __name__ == "__main__":
    main()
