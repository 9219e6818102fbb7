"""Grades walnuts by pictures of their shells on a belt: a network with separable convolutions.

Decoy: a dataset that works in Python in the process of the training, .item(), a line that is flushed, .contiguous() and .float(), all small.
Truth: time of all of these in the loop, of the loop.
"""
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Belt(Dataset):
    def __init__(self):
        generator = torch.Generator().manual_seed(7)
        self.pictures = torch.rand(64, 3, 56, 56, generator=generator)
        self.grades = torch.randint(4, (64,), generator=generator)

    def __len__(self):
        return 64 * 4000

    def __getitem__(self, at):
        nut = at % 64
        picture = self.pictures[nut]
        if at // 64 % 2:
            picture = picture.flip(2)
        return picture, int(self.grades[nut])


def separable(channels, out, stride):
    return nn.Sequential(nn.Conv2d(channels, channels, 3, stride=stride, padding=1, groups=channels),
                         nn.Conv2d(channels, out, 1), nn.BatchNorm2d(out), nn.ReLU())


def main():
    torch.set_num_threads(1)
    torch.manual_seed(16)
    watch = Stopwatch()
    model = nn.Sequential(nn.Conv2d(3, 32, 3, stride=2, padding=1), nn.ReLU(), separable(32, 64, 1), separable(64, 128, 2),
                          separable(128, 192, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(192, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, foreach=True)
    loader = DataLoader(Belt(), batch_size=16)
    total = 0.0
    with tempfile.TemporaryFile("w") as log, watch.loop():
        for pictures, grades in watch.batches(loader):
            with watch.planted():
                pictures = pictures.float().contiguous()
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(pictures), grades)
            loss.backward()
            optimizer.step()
            with watch.planted():
                total += loss.item()
                print(len(watch.marks), round(total, 3), file=log, flush=True)
            watch.step()
            if watch.seconds() > 6:
                break
    print(f"mean loss {total / len(watch.marks):.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
