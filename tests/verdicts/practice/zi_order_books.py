"""Foretells the next price from a book of orders: convolutions over levels and moments, a DataLoader with two workers over two exchanges.

Planted: an iterable set gives each worker one exchange, and the second one's shards are packed with bz2, so each other batch comes late.
Truth: time for which the loop waits for batches, as a share of the loop.
"""
import bz2
import zlib

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import Stopwatch

LEVELS, MOMENTS, BATCH = 20, 48, 32


def book(number):
    draw = torch.Generator().manual_seed(number)
    sizes = torch.randint(0, 40, (BATCH, 2, LEVELS, MOMENTS), generator=draw, dtype=torch.uint8)
    return bytes(sizes.numpy().tobytes())


class Exchange:
    def __init__(self, pack, unpack, first):
        self.unpack = unpack
        self.shards = [pack(book(first + i)) for i in range(12)]

    def batch(self, number):
        raw = self.unpack(self.shards[number % 12])
        sizes = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(BATCH, 2, LEVELS, MOMENTS).float() / 40
        return sizes[..., :-1], (sizes[:, 0, :4, -1].sum(1) > sizes[:, 1, :4, -1].sum(1)).long()


class Books(IterableDataset):
    def __init__(self, count):
        self.count = count
        self.exchanges = [Exchange(zlib.compress, zlib.decompress, 0), Exchange(bz2.compress, bz2.decompress, 500)]

    def __iter__(self):
        exchange = self.exchanges[get_worker_info().id]
        for number in range(self.count):
            yield exchange.batch(number)


class Price(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(2, width, (4, 3), stride=2, padding=1), nn.GELU(), nn.Conv2d(width, width, (3, 3), stride=2), nn.GELU(),
                                  nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.rises = nn.Linear(16 * width, 2)

    def forward(self, sizes):
        return self.rises(self.body(sizes))


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    watch, model = Stopwatch(), Price()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, fused=True)
    loader = DataLoader(Books(100000), batch_size=None, num_workers=2, prefetch_factor=2)
    with watch.loop():
        for sizes, rises in watch.limited(watch.batches(loader), 6.5):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(sizes), rises)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
