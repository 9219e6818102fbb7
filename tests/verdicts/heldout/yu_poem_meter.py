"""Tells the meter of lines of verse from their letters, with a small convolutional network over characters.

Planted: collate_fn finds the syllables of each line letter by letter in Python, in the process of the training.
Truth: time that the loop waits for its batches, of the loop.
"""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

LETTERS = "abcdefghijklmnopqrstuvwxyz '"
LENGTH = 64
watch = Stopwatch()


class Verses(Dataset):
    def __init__(self, count):
        spin = random.Random(4)
        self.lines = ["".join(spin.choice(LETTERS) for _ in range(LENGTH)) for _ in range(count)]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, at):
        return self.lines[at], at % 4


def syllables(line):
    """For each letter: which one it is, how far from the last vowel, and how heavy its syllable."""
    rows, since, heavy = [], 0, 0
    for at, letter in enumerate(line):
        vowel = letter in "aeiouy"
        if vowel and (at == 0 or line[at - 1] not in "aeiouy"):
            since, heavy = 0, 0
        elif letter != " ":
            since += 1
            heavy += letter in "lmnrst"
        rows.append((LETTERS.index(letter), min(since, 9), min(heavy, 9)))
    return rows


def scan(pairs):
    return torch.tensor([syllables(line) for line, _ in pairs]), torch.tensor([meter for _, meter in pairs])


class Meter(nn.Module):
    def __init__(self):
        super().__init__()
        self.letter, self.since, self.heavy = nn.Embedding(len(LETTERS), 24), nn.Embedding(10, 24), nn.Embedding(10, 24)
        self.convs = nn.ModuleList(nn.Conv1d(24, 32, width, padding=width // 2) for width in (3, 5, 7))
        self.say = nn.Linear(3 * 32, 4)

    def forward(self, lines):
        x = (self.letter(lines[..., 0]) + self.since(lines[..., 1]) + self.heavy(lines[..., 2])).transpose(1, 2)
        return self.say(torch.cat([torch.relu(conv(x)).amax(2) for conv in self.convs], dim=1))


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    model = Meter()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(Verses(48 * 400), batch_size=48, shuffle=True, collate_fn=scan, drop_last=True)
    with watch.loop():
        while watch.seconds() < 6:
            for lines, meters in watch.batches(loader):
                loss = nn.functional.cross_entropy(model(lines), meters)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                watch.step()
                if watch.seconds() > 6:
                    break
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
