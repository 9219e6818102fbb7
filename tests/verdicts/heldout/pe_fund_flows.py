"""Predicts how much money flows in and out of funds next week: NumPy computes indicators from quotes, and a gated network in PyTorch learns from them.

Planted: the indicators of each batch (drawdown, streak, half-life average) are found day by day in loops in Python over NumPy's arrays.
Truth: time of the indicators, as a share of the loop.
"""
import numpy as np
import torch
from torch import nn

from stopwatch import Stopwatch

FUNDS, DAYS, WINDOW, BATCH = 300, 800, 60, 32


class Market:
    def __init__(self, seed=2008):
        draw = np.random.default_rng(seed)
        moves = draw.normal(2e-4, 0.01, (FUNDS, DAYS))
        self.quotes = np.exp(np.cumsum(moves, 1)).astype(np.float32)
        self.flows = (moves[:, 1:] * 40).astype(np.float32)
        self.draw = draw

    def windows(self):
        fund = self.draw.integers(0, FUNDS, BATCH)
        day = self.draw.integers(0, DAYS - WINDOW - 1, BATCH)
        quotes = np.stack([self.quotes[f, d:d + WINDOW] for f, d in zip(fund, day)])
        return quotes, self.flows[fund, day + WINDOW - 1]


def indicators(quotes):
    table = np.zeros((*quotes.shape, 4), np.float32)
    table[:, :, 0] = quotes / quotes[:, :1] - 1
    for row, window in enumerate(quotes):
        top, streak, smooth = window[0], 0, window[0]
        for day in range(1, len(window)):
            quote = window[day]
            top = max(top, quote)
            streak = streak + 1 if quote > window[day - 1] else 0
            smooth += 0.1 * (quote - smooth)
            table[row, day, 1:] = quote / top - 1, streak / 10, quote / smooth - 1
    return table


class Gated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.narrow(nn.functional.glu(self.wide(self.norm(x))))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    network = nn.Sequential(nn.Flatten(), nn.Linear(4 * WINDOW, 224), *(Gated(224) for _ in range(3)), nn.Linear(224, 1))
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-4, fused=True)
    market, watch = Market(), Stopwatch()
    with watch.loop():
        while watch.seconds() < 6:
            quotes, flows = market.windows()
            with watch.planted():
                table = indicators(quotes)
            said = network(torch.from_numpy(table))[:, 0]
            loss = nn.functional.huber_loss(said, torch.from_numpy(flows))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.5f}")
    watch.tell()


main()
