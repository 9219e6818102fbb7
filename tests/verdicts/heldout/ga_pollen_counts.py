"""Names pollen under the microscope from outlines; grains come from shards of a stream, two workers share the shards.

Planted: every second shard is of the archive and packed tightly (lzma), so the worker that has those is far slower, and
the loader waits for it at every second batch.
Truth: time that the loop waits for batches, of the loop.
"""
import lzma

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import Stopwatch

POINTS, OVER, GRAINS, KINDS = 96, 3, 64, 18


def make_shards(count):
    pick = numpy.random.default_rng(14)
    shards = []
    for number in range(count):
        kinds = pick.integers(0, KINDS, GRAINS)
        angle = numpy.linspace(0, 2 * numpy.pi, POINTS * OVER)[None]
        radius = 1 + 0.3 * numpy.sin(angle * (2 + kinds[:, None] % 6)) + 0.1 * (kinds[:, None] // 6)
        outline = numpy.stack([radius * numpy.cos(angle), radius * numpy.sin(angle)], 1)
        outline = (outline + pick.normal(0, 0.05, outline.shape)).astype("float64")
        packed = number % 2 == 1
        data = outline.tobytes()
        shards.append((packed, lzma.compress(data, preset=1) if packed else data, kinds))
    return shards


class Stream(IterableDataset):
    """Batches, one shard each: worker w has the shards w, w + 2, w + 4, ..."""

    def __init__(self, shards, rounds):
        self.shards, self.rounds = shards, rounds

    def __iter__(self):
        worker = get_worker_info()
        mine = self.shards[worker.id::worker.num_workers]
        for turn in range(self.rounds):
            for packed, data, kinds in mine:
                raw = bytearray(lzma.decompress(data) if packed else data)
                grains = torch.frombuffer(raw, dtype=torch.float64).view(GRAINS, 2, POINTS, OVER).mean(3).float()
                yield grains, torch.from_numpy(kinds)


class Palynologist(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.rings = nn.ModuleList([nn.Conv1d(2, width, 7, padding=3, padding_mode="circular"),
                                    nn.Conv1d(width, width, 5, padding=2, padding_mode="circular")])
        self.spectrum = nn.Linear(POINTS // 2 + 1, 32)
        self.kind = nn.Linear(width * 32, KINDS)

    def forward(self, grains):
        x = grains
        for ring in self.rings:
            x = nn.functional.silu(ring(x))
        x = self.spectrum(torch.fft.rfft(x).abs())
        return self.kind(x.flatten(1))


def main():
    torch.manual_seed(14)
    torch.set_num_threads(1)
    watch = Stopwatch()
    loader = DataLoader(Stream(make_shards(40), 1000), batch_size=None, num_workers=2, prefetch_factor=4)
    model = Palynologist()
    optimizer = torch.optim.RAdam(model.parameters(), lr=1e-3)
    right = seen = 0
    with watch.loop():
        for grains, kinds in watch.limited(watch.batches(loader), 6):
            odds = model(grains)
            loss = nn.functional.cross_entropy(odds, kinds, label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if len(watch.marks) % 50 == 0:
                right += (odds.argmax(1) == kinds).sum().item()
                seen += len(kinds)
            watch.step()
    print(f"{right / max(seen, 1):.1%} right")
    watch.tell()


if __name__ == "__main__":
    main()
