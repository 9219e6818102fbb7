"""Guesses the mood of film reviews.

Planted: the data set cuts each review into words and counts them in Python, in the process of the loop.
Truth: time that the loop waits for batches, as a share of the loop.
"""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

WORDS = "slow bright the a of story actor light never plain music end hero quiet".split()


class Reviews(Dataset):
    def __init__(self):
        random.seed(1)
        self.texts = [" ".join(random.choice(WORDS) + random.choice(["", ",", ".", "s", "er"]) for _ in range(220)) for _ in range(400)]
        self.numbers = {}

    def __len__(self):
        return 400000

    def __getitem__(self, at):
        counts = {}
        for word in self.texts[at % 400].lower().replace(",", " ").replace(".", " ").split():
            stem = word.rstrip("s").removesuffix("er")
            number = self.numbers.setdefault(stem, len(self.numbers))
            counts[number] = counts.get(number, 0) + 1
        vector = torch.zeros(256)
        for number, count in counts.items():
            vector[number % 256] = count / len(counts)
        return vector, at % 2


def main():
    torch.manual_seed(1)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(256, 1200), nn.ReLU(), nn.Linear(1200, 1200), nn.ReLU(), nn.Linear(1200, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with watch.loop():
        for vectors, moods in watch.limited(watch.batches(DataLoader(Reviews(), batch_size=64)), 6):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(vectors), moods).backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
