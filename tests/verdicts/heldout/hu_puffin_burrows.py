"""Counts puffins by the sounds in their burrows: short rounds over a small collection, augmented by a loader's worker.

Planted: a loader is made for each of the short rounds, so that its worker begins anew and its first batch is waited for.
Truth: time from the beginning of each round until its first batch is there, of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

SAMPLES, BATCH, TONES = 128, 32, 400


class Burrows(Dataset):
    def __init__(self):
        draw = torch.Generator().manual_seed(2)
        self.sounds = torch.randn(SAMPLES, TONES, generator=draw)
        self.count = self.sounds[:, ::50].abs().sum(1)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, number):
        shift = (number * 37) % TONES
        return self.sounds[number].roll(shift) * 1.05, self.count[number]


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.ears = nn.Sequential(nn.Conv1d(1, 48, 9, padding=4), nn.GELU(), nn.Conv1d(48, 48, 9, stride=2, padding=4), nn.GELU(),
                                  nn.Conv1d(48, 64, 5, stride=2, padding=2), nn.GELU())
        self.say = nn.Linear(64, 1)

    def forward(self, sound):
        return self.say(self.ears(sound[:, None]).mean(2)).squeeze(1)


def rounds(burrows, watch):
    """Rounds without end; each gives its batches."""
    while True:
        loader = DataLoader(burrows, BATCH, shuffle=True, num_workers=1, prefetch_factor=3)
        with watch.planted():
            batches = iter(loader)
            first = next(batches)
        yield first
        yield from batches


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    watch, counter, burrows = Stopwatch(), Counter(), Burrows()
    optimizer = torch.optim.AdamW(counter.parameters(), lr=1e-4, fused=True)
    with watch.loop():
        for sound, count in watch.limited(rounds(burrows, watch), 6.5):
            loss = nn.functional.huber_loss(counter(sound), count)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
