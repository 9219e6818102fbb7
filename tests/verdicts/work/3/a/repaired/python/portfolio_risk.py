"""Value-at-risk of many portfolios by historical simulation, spread over a
pool of worker processes."""
import functools
import multiprocessing
import zlib

import numpy as np

DAYS = 1500
ASSETS = 400
PORTFOLIOS = 600


def simulate_history(seed):
    """Daily returns of all assets: a few common factors plus own noise."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((DAYS, 5)) * [0.01, 0.006, 0.004, 0.003, 0.002]
    loads = rng.standard_normal((5, ASSETS))
    noise = rng.standard_normal((DAYS, ASSETS)) * 0.008
    return factors @ loads + noise


def make_portfolios(seed):
    rng = np.random.default_rng(seed)
    portfolios = []
    for number in range(PORTFOLIOS):
        held = np.sort(rng.choice(ASSETS, size=int(rng.integers(20, 60)), replace=False))
        weights = rng.dirichlet(np.ones(len(held)))
        portfolios.append((number, held, weights))
    return portfolios


def worst_drawdown(profit):
    wealth = np.cumsum(profit)
    return float(np.max(np.maximum.accumulate(wealth) - wealth))


def expected_shortfall(profit, level):
    cut = np.quantile(profit, level)
    return float(cut), float(profit[profit <= cut].mean())


def bootstrap_error(profit, level, number, rounds=160):
    rng = np.random.default_rng(number)
    picks = rng.integers(0, len(profit), size=(rounds, len(profit)))
    return float(np.quantile(profit[picks], level, axis=1).std())


def share_history(returns):
    global history
    history = returns


def assess(level, portfolio):
    number, held, weights = portfolio
    profit = history[:, held] @ weights
    var, shortfall = expected_shortfall(profit, level)
    return number, var, shortfall, worst_drawdown(profit), bootstrap_error(profit, level, number)


def run(returns, portfolios, level):
    task = functools.partial(assess, level)
    with multiprocessing.Pool(2, share_history, (returns,)) as pool:
        return list(pool.imap(task, portfolios))


def report(results):
    table = np.array([r[1:] for r in results])
    for name, column in zip(["var", "shortfall", "drawdown", "error"], table.T):
        print(f"{name:9s} mean {column.mean():.5f} worst {np.abs(column).max():.5f}")
    riskiest = sorted(results, key=lambda r: r[2])[:5]
    print("riskiest", [r[0] for r in riskiest])
    print("check", zlib.crc32(np.round(table, 9).tobytes()))


def by_size(portfolios, results):
    groups = {}
    for (number, held, _), result in zip(portfolios, results):
        assert number == result[0]
        groups.setdefault(len(held) // 10 * 10, []).append(result[1])
    for size in sorted(groups):
        print(f"{size:3d}+ assets: {len(groups[size]):4d} portfolios, mean var {np.mean(groups[size]):.5f}")


def main():
    returns = simulate_history(seed=41)
    portfolios = make_portfolios(seed=42)
    results = run(returns, portfolios, level=0.01)
    by_size(portfolios, results)
    report(results)


if __name__ == "__main__":
    main()
