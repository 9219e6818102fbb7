"""Trains a classifier of leaves, and prints how its hidden units are used.

Planted: after each step, a histogram of each of 200 hidden units is printed as a line of text, and flushed.
Truth: time of printing, as a share of the loop.
"""
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch

BARS = " .:-=+*#%@"


def print_histograms(step, hidden, log):
    print(f"--- step {step}", file=log)
    for unit, values in enumerate(hidden):
        counts = [0] * 10
        for value in values:
            counts[min(9, max(0, int(value * 4)))] += 1
        most = max(counts)
        print(f"unit {unit:3d} |" + "".join(BARS[9 * count // most] for count in counts) + f"| max {max(values):.4f}", file=log, flush=True)


def main():
    torch.manual_seed(216)
    torch.set_num_threads(1)
    body = nn.Sequential(nn.Conv2d(3, 16, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 22 * 22, 200), nn.ReLU())
    head = nn.Linear(200, 12)
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.01)
    leaves, kinds, watch = torch.rand(400, 3, 48, 48), torch.randint(12, (400,)), Stopwatch()
    with tempfile.NamedTemporaryFile("w", dir=".", suffix=".log") as log, watch.loop():
        while watch.seconds() < 3.2:
            chosen = torch.randint(400, (32,))
            hidden = body(leaves[chosen])
            loss = nn.functional.cross_entropy(head(hidden), kinds[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                print_histograms(len(watch.marks), hidden.detach().T.tolist(), log)
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
