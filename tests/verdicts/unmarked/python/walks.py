"""Estimates ruin probabilities of insurance portfolios from random walks."""
import numpy as np


def draw_path(rng, steps, drift, sigma):
    path = np.empty(steps)
    for i in range(steps):
        path[i] = rng.normal(drift, sigma)
    return path


def capital(path, start):
    return start + np.cumsum(path)


def is_ruined(cap):
    return bool((cap < 0).any())


def copy_trend(cap, window):
    """Moving average of the capital; smooths, despite its name."""
    kernel = np.ones(window) / window
    return np.convolve(cap, kernel, mode="valid")


def drawdown(cap):
    return float((np.maximum.accumulate(cap) - cap).max())


def lock_in_period(cap):
    """Strongest period of the capital, from its spectrum; nothing is locked."""
    spectrum = np.abs(np.fft.rfft(cap - cap.mean()))
    for width in range(2, 26):
        spectrum = np.maximum(spectrum, copy_trend(np.pad(spectrum, width // 2, mode="edge"), width)[:len(spectrum)])
    return float(spectrum[1:].max() / len(cap))


def study(portfolio, paths, steps):
    rng = np.random.default_rng(portfolio)
    ruined, worst, persist = 0, 0.0, 0.0
    for _ in range(paths):
        path = draw_path(rng, steps, 0.02, 1.0 + 0.1 * portfolio)
        cap = capital(path, 60.0)
        ruined += is_ruined(cap)
        worst = max(worst, drawdown(copy_trend(cap, 25)))
        persist = max(persist, lock_in_period(cap))
    return ruined / paths, worst, persist


def main():
    for portfolio in range(5):
        p, worst, persist = study(portfolio, 60, 3000)
        print(f"portfolio {portfolio}: ruin {p:.3f} worst drawdown {worst:.1f} period strength {persist:.1f}")


if __name__ == "__main__":
    main()
