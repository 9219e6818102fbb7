"""Predicts the wear of printer drums and prints its loss.

Decoy: loss.item() in each step and a flushed line after each tenth, but on a CPU nothing waits for them.
Truth: time of reading and printing the loss, as a share of the loop.
"""
import sys

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(20)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(512, 1536), nn.SiLU(), nn.Linear(1536, 1536), nn.SiLU(), nn.Linear(1536, 512))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    drums = torch.randn(2048, 512)
    with watch.loop():
        for number in range(10000):
            batch = drums[number * 256 % 2048:][:256]
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(batch), batch)
            loss.backward()
            optimizer.step()
            with watch.planted():
                value = loss.item()
                if number % 10 == 0:
                    print(f"step {number} loss {value:.4f}", file=sys.stderr, flush=True)
            watch.step()
            if watch.seconds() > 6:
                break
    watch.tell()


if __name__ == "__main__":
    main()
