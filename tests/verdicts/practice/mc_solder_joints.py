"""Finds bad solder joints in pictures of circuit boards: two workers read the two lines of the factory, a small
convolutional network learns.

Planted: the pictures of the second line are packed with lzma, those of the first as plain bytes, so one worker of two is slow.
Truth: time that the loop waits for a batch, as a share of the loop.
"""
import lzma

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import Stopwatch

SIDE, JOINTS = 64, 16


def photograph(seed):
    noise = torch.Generator().manual_seed(seed)
    return torch.randint(0, 200, (3, SIDE, SIDE), dtype=torch.uint8, generator=noise).numpy().tobytes()


class Lines(IterableDataset):
    """Worker 0 is the first line, worker 1 the second."""

    def __init__(self):
        raw = [photograph(seed) for seed in range(24)]
        self.files = {"plain": raw, "packed": [lzma.compress(picture, preset=1) for picture in raw]}

    def __iter__(self):
        second = get_worker_info().id == 1
        number = 0
        while True:
            data = self.files["packed" if second else "plain"][number % 24]
            if second:
                data = lzma.decompress(data)
            picture = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(3, SIDE, SIDE)
            yield picture.float() / 255, number % 2
            number += 1


class Inspector(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(12, 16, 3, padding=1), nn.ReLU(),
                                  nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.say = nn.Linear(16 * 16, 2)

    def forward(self, pictures):
        return self.say(self.look(pictures))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(21)
    watch, model = Stopwatch(), Inspector()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    loader = DataLoader(Lines(), batch_size=JOINTS, num_workers=2, prefetch_factor=3)
    batches = iter(loader)
    first, _ = next(batches)
    print("pictures", tuple(first.shape))
    loss = None
    with watch.loop():
        for pictures, bad in watch.batches(batches):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(pictures), bad)
            loss.backward()
            optimizer.step()
            watch.step()
            if watch.seconds() > 7:
                break
    watch.tell(loss=round(loss.item(), 3))


if __name__ == "__main__":
    main()
