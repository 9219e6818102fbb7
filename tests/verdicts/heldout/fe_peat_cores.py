"""Dates layers of peat by the pollen in them: a loader's process prepares the counts of a core, a network guesses the century.

Planted: the loader is iterated anew for each bog of ten batches, and its worker starts, reads the key of pollen, and ends each time.
Truth: time until the first batch of each bog, and of ending the worker, of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

KINDS, LAYERS, BATCH, BATCHES = 180, 30, 32, 10


class Cores(Dataset):
    """Counts of pollen; the key from numbers to kinds is read when a process needs it first."""

    def __init__(self):
        generator = torch.Generator().manual_seed(70)
        self.counts = torch.poisson(3 * torch.rand(BATCH * BATCHES, LAYERS, KINDS, generator=generator))
        self.centuries = self.counts[:, :, 0].sum(1) % 90
        self.key = None

    def read_key(self):
        text = "\n".join(f"{number};{(number * 7919) % KINDS};kind {number}" for number in range(40000))
        return {int(line.split(";")[0]): int(line.split(";")[1]) for line in text.split("\n")}

    def __len__(self):
        return len(self.counts)

    def __getitem__(self, at):
        if self.key is None:
            self.key = self.read_key()
        counts = self.counts[at]
        return counts / counts.sum(1, keepdim=True), self.centuries[at]


class Dating(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(KINDS, 384), nn.SiLU(), nn.Linear(384, 256))
        self.core = nn.LSTM(256, 96, batch_first=True)
        self.century = nn.Linear(96, 1)

    def forward(self, counts):
        return self.century(self.core(self.layer(counts))[0][:, -1]).squeeze(1)


def first_and_rest(loader, watch):
    """The loader's batches; a bog's first one, and its end, are waited for by the watch."""
    with watch.planted():
        iterator = iter(loader)
        batch = next(iterator)
    for _ in range(BATCHES - 1):
        yield batch
        batch = next(iterator)
    yield batch
    with watch.planted():
        assert next(iterator, None) is None
        del iterator


def main():
    torch.manual_seed(71)
    torch.set_num_threads(1)
    watch, dating = Stopwatch(), Dating()
    optimizer = torch.optim.Adam(dating.parameters(), lr=1e-3, fused=True)
    loader = DataLoader(Cores(), BATCH, shuffle=True, num_workers=1)
    with watch.loop():
        while watch.seconds() < 6:
            for counts, centuries in first_and_rest(loader, watch):
                loss = nn.functional.l1_loss(dating(counts), centuries)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"error in centuries {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
