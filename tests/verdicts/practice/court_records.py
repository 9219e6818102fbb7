"""Classifies court records; a batch carries the words of each record and their places for later display.

Planted: two quick workers hand over lists of tens of thousands of tuples, which the loop must unpickle.
Truth: time that the loop waits for the next batch.
"""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Records(Dataset):
    def __init__(self, count=256, words=500):
        rng = random.Random(206)
        self.records = [[(f"word{rng.randrange(9000)}", place * 7, place * 7 + 6, rng.random()) for place in range(words)]
                        for _ in range(count)]
        self.features = torch.randn(count, 900)

    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        return self.records[index % len(self.records)], self.features[index % len(self.features)], index % 6


def collate(samples):
    records, features, kinds = zip(*samples)
    return list(records), torch.stack(features), torch.tensor(kinds)


def main():
    torch.manual_seed(206)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(900, 1200), nn.ReLU(), nn.Dropout(0.1), nn.Linear(1200, 700), nn.ReLU(), nn.Linear(700, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    loader = DataLoader(Records(), batch_size=64, shuffle=True, num_workers=2, collate_fn=collate)
    watch, worst = Stopwatch(), (0.0, None)
    with watch.loop():
        for records, features, kinds in watch.limited(watch.batches(loader), 3.4):
            losses = nn.functional.cross_entropy(model(features), kinds, reduction="none")
            optimizer.zero_grad()
            losses.mean().backward()
            optimizer.step()
            value, place = losses.max(0)
            worst = max(worst, (value.item(), records[place][0][0]))
            watch.step()
    print(f"worst loss {worst[0]:.3f}, of the record that begins with {worst[1]}")
    watch.tell()


if __name__ == "__main__":
    main()
