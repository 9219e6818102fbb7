"""Tags photographs with a small CNN; the data set augments each photograph in numpy.

Planted: the DataLoader has no workers, so the loop itself augments.
Truth: time in the loader's next(), as a share of the loop.
"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Photos(Dataset):
    def __init__(self, count=512, size=64):
        rng = np.random.default_rng(0)
        self.pixels = rng.integers(0, 256, (count, 3, size, size), dtype=np.uint8)
        self.tags = rng.integers(0, 10, count)

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        image = self.pixels[index].astype(np.float32) / 255
        if rng.random() < 0.5:
            image = image[:, :, ::-1]
        image = np.roll(image, rng.integers(-4, 5, 2), axis=(1, 2))
        for _ in range(5):  # a box blur by shifts
            image = sum(np.roll(image, (dy, dx), axis=(1, 2)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) / 9
        image = (image - image.mean((1, 2), keepdims=True)) / (image.std((1, 2), keepdims=True) + 1e-3)
        return torch.from_numpy(np.ascontiguousarray(image)), int(self.tags[index])


def main():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    loader = DataLoader(Photos(), batch_size=32, shuffle=True)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 9:
            for images, tags in watch.limited(watch.batches(loader), 9):
                optimizer.zero_grad()
                loss = criterion(model(images), tags)
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
