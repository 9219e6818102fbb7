"""Tells grapes apart, and keeps a confusion matrix of the training batches.

Planted: each step counts all predictions in a Counter, one by one, and a report is computed from it.
Truth: time of counting, as a share of the loop.
"""
import collections

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(67)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(90, 128), nn.ReLU(), nn.Linear(128, 12))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    samples, grapes, counts = torch.randn(12000, 90), torch.randint(12, (12000,)), collections.Counter()
    watch, purity = Stopwatch(), {}
    with watch.loop():
        for _ in watch.limited(range(1000), 3.4):
            for part, names in zip(samples.split(1500), grapes.split(1500)):
                scores = model(part)
                loss = nn.functional.cross_entropy(scores, names)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                with watch.planted():
                    for likely, name in zip(scores.topk(3).indices.tolist(), names.tolist()):
                        counts[likely[0], name] += 1
                        counts["among three", name] += name in likely
                    for grape in range(12):
                        told = sum(count for (_, name), count in counts.items() if name == grape)
                        purity[grape] = counts[grape, grape] / max(told, 1)
                watch.step()
    print(f"loss {loss.item():.3f}, {purity[0]:.2f}")
    watch.tell()


if __name__ == "__main__":
    main()
