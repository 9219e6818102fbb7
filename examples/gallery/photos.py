"""Trains a small network on photos of leaves, which are stored compressed.

The fault: the DataLoader has no workers, so the loop decodes each photo itself.
"""
import zlib

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE, PHOTOS, EPOCHS = 224, 480, 2


class Leaves(Dataset):
    """Photos in memory; each is decoded when it is asked for, as a folder of PNG files would be."""

    def __init__(self):
        random = numpy.random.default_rng(1)
        smooth = random.integers(0, 255, (8, SIDE, SIDE // 8, 3), dtype=numpy.uint8).repeat(8, axis=2)
        self.files = [zlib.compress(smooth[number % 8].tobytes(), 1) for number in range(PHOTOS)]

    def __len__(self):
        return PHOTOS

    def __getitem__(self, number):
        pixels = numpy.frombuffer(zlib.decompress(self.files[number]), dtype=numpy.uint8)
        photo = pixels.reshape(SIDE, SIDE, 3).astype(numpy.float32) / 255
        if number % 2:
            photo = photo[:, ::-1]
        photo = ((photo - photo.mean((0, 1))) / (photo.std((0, 1)) + 1e-5))[::2, ::2]
        return torch.from_numpy(numpy.ascontiguousarray(photo.transpose(2, 0, 1))), number % 10


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = DataLoader(Leaves(), batch_size=16, shuffle=True)
    for epoch in range(EPOCHS):
        for photos, kinds in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(photos), kinds)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
