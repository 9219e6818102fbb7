"""Recognises diseases on leaves; the pictures are stored compressed, and a worker decodes them.

Planted: one worker decodes, and the model is ready for the next batch long before.
Truth: time that the loop waits for the next batch.
"""
import zlib

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

SIZE = 72


class Leaves(Dataset):
    """Rows are stored as differences from the row above, deflated, as in a PNG."""

    def __init__(self, count=600):
        rng = np.random.default_rng(5)
        smooth = rng.integers(0, 30, (40, SIZE, SIZE, 3), dtype=np.uint8)
        self.files = [zlib.compress(picture.tobytes(), 6) for picture in smooth]
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        rows = np.frombuffer(zlib.decompress(self.files[index % 40]), dtype=np.uint8).reshape(SIZE, SIZE, 3)
        picture = np.zeros((SIZE, SIZE, 3), dtype=np.uint8)
        above = np.zeros((SIZE, 3), dtype=np.uint8)
        for y, row in enumerate(rows):
            above = above + row
            picture[y] = above
        channels = picture.transpose(2, 0, 1).astype(np.float32) / 255
        for _ in range(5):  # smooth what the camera added
            channels = (channels + np.roll(channels, 1, 1) + np.roll(channels, 1, 2)) / 3
        return torch.from_numpy(channels), index % 5


def main():
    torch.manual_seed(41)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 24, 5, stride=2), nn.ReLU(), nn.Conv2d(24, 40, 3, stride=2), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(160, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader = DataLoader(Leaves(), batch_size=20, shuffle=True, num_workers=1, persistent_workers=True)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            for pictures, diseases in watch.limited(watch.batches(loader), 3):
                loss = nn.functional.cross_entropy(model(pictures), diseases)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
