"""Detects faults of engines, and keeps the last features to compare with.

Decoy of growing memory: a queue of features is full after ten steps, and then drops the oldest.
Truth: time of keeping the features, as a share of the loop.
"""
import collections

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(153)
    torch.set_num_threads(1)
    encoder = nn.Sequential(nn.Linear(1024, 900), nn.ReLU(), nn.Linear(900, 900), nn.ReLU(), nn.Linear(900, 128))
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.01)
    sounds, kept, watch = torch.randn(5000, 1024), collections.deque(maxlen=10), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            features = encoder(sounds[torch.randint(5000, (128,))])
            with watch.planted():
                kept.append(features.detach())
                usual = torch.stack([each.mean(0) for each in kept]).mean(0)
            loss = (features - usual).pow(2).mean() + (features.std(0) - 1).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
