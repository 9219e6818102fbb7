"""Counts apples: a small network with skip connections learns masks of fruits.

Planted: nothing; one worker of the DataLoader flips and crops, and is always ahead.
Truth: time that the loop waits for a batch, of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

from stopwatch import Stopwatch


class Orchard(Dataset):
    def __init__(self, count=128, size=72):
        generator = torch.Generator().manual_seed(14)
        self.photos = torch.rand(count, 3, size, size, generator=generator)
        self.fruits = (self.photos[:, :1] > 0.7).float()

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, index):
        top, left = torch.randint(8, (2,)).tolist()
        photo, fruit = (whole[index, :, top:top + 64, left:left + 64] for whole in (self.photos, self.fruits))
        return (photo.flip(2), fruit.flip(2)) if top % 2 else (photo, fruit)


class SkipNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.enter = self.twice(3, width)
        self.deep = self.twice(width, 2 * width)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.leave = nn.Sequential(self.twice(2 * width, width), nn.Conv2d(width, 1, 1))
        self.pool = nn.MaxPool2d(2)

    @staticmethod
    def twice(inputs, outputs):
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(), nn.Conv2d(outputs, outputs, 3, padding=1), nn.ReLU())

    def forward(self, photos):
        shallow = self.enter(photos)
        return self.leave(torch.cat([shallow, self.up(self.deep(self.pool(shallow)))], 1))


def main():
    torch.manual_seed(14)
    watch = Stopwatch()
    data, model = Orchard(), SkipNet()
    loader = DataLoader(data, 12, sampler=RandomSampler(data, replacement=True, num_samples=1_000_000), num_workers=1, prefetch_factor=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    batches = iter(loader)
    next(batches)  # the worker is there
    with watch.loop():
        while watch.seconds() < 6.5:
            with watch.planted():
                photos, fruits = next(batches)
            out = model(photos)
            loss = nn.functional.binary_cross_entropy_with_logits(out, fruits)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
