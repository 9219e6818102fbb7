"""Recognises accents from spectra of speech: a convolution in time and self-attention; utterances come from two shards
of an archive, and each worker of the loader reads one of them.

Planted: the shard of the second worker lies on slower storage, and batches come in turns, so every other one is late.
Truth: time that the loop waits for batches, of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import Stopwatch

BANDS, FRAMES, ACCENTS, BATCH = 40, 80, 12, 16
SEEK_MS = {"local": 0.2, "attic": 7.0}


class Shard:
    """One file of the archive: blocks of spectra, each with the delay of where it lies."""

    def __init__(self, place, seed):
        self.place, self.generator = place, torch.Generator().manual_seed(seed)

    def read(self):
        time.sleep(SEEK_MS[self.place] / 1e3)
        accent = int(torch.randint(ACCENTS, (), generator=self.generator))
        spectrum = torch.randn(BANDS, FRAMES, generator=self.generator)
        spectrum[accent * 3:accent * 3 + 3] += 1
        return spectrum, accent


class Archive(IterableDataset):
    def __init__(self, places):
        super().__init__()
        self.places = places

    def __iter__(self):
        info = get_worker_info()
        shard = Shard(self.places[info.id], info.seed % 1000)
        while True:
            yield shard.read()


class Accent(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(BANDS, width, 5, padding=2), nn.GELU(), nn.Conv1d(width, width, 5, padding=2), nn.GELU())
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 256, batch_first=True, dropout=0.0), 2)
        self.name = nn.Linear(width, ACCENTS)

    def forward(self, spectra):
        return self.name(self.layers(self.front(spectra).transpose(1, 2)).mean(1))


def main():
    torch.manual_seed(7)
    model, watch = Accent(), Stopwatch()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    loader = DataLoader(Archive(["local", "attic"]), batch_size=BATCH, num_workers=2, prefetch_factor=4)
    right = seen = 0
    batches = iter(loader)
    next(batches)
    with watch.loop():
        while watch.seconds() < 6.5:
            with watch.planted():
                spectra, accents = next(batches)
            said = model(spectra)
            loss = nn.functional.cross_entropy(said, accents)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += int((said.argmax(1) == accents).sum())
            seen += len(accents)
            watch.step()
    print(f"{right} of {seen}, loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
