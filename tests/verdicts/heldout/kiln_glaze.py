"""Grades glazes by photographs from a kiln.

Planted: the only worker of the DataLoader needs longer for a batch than a step takes, since each tile gets a field of stains.
Truth: the loop's time of waiting for batches, of the loop.
"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

EDGE, GRADES, BATCH = 64, 6, 24


class Tiles(Dataset):
    def __init__(self, count):
        self.photos = np.random.default_rng(2).random((200, 3, EDGE, EDGE), dtype=np.float32)
        self.count = count
        rows = np.fft.fftfreq(EDGE * 4)[:, None]
        columns = np.fft.rfftfreq(EDGE * 4)[None]
        self.slope = 1 / np.maximum(rows ** 2 + columns ** 2, 1e-4)

    def __len__(self):
        return self.count

    def stains(self, random):
        """A cloud with the spectrum of real stains."""
        noise = random.standard_normal((EDGE * 4, EDGE * 4))
        cloud = np.fft.irfft2(np.fft.rfft2(noise) * self.slope)[:EDGE, :EDGE]
        return (cloud - cloud.min()) / (cloud.max() - cloud.min())

    def __getitem__(self, number):
        random = np.random.default_rng(number)
        photo = self.photos[number % 200]
        photo = photo * (0.6 + 0.4 * self.stains(random))
        if random.random() < 0.5:
            photo = photo[:, :, ::-1]
        return torch.from_numpy(np.ascontiguousarray(photo, dtype=np.float32)), number % GRADES


def make_model():
    return nn.Sequential(nn.Conv2d(3, 18, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(18, 48, 3, padding=1, stride=2), nn.ReLU(),
                         nn.Conv2d(48, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(768, GRADES))


def main():
    torch.set_num_threads(1)  # the other core is the worker's
    torch.manual_seed(2)
    watch = Stopwatch()
    loader = DataLoader(Tiles(1_000_000), batch_size=BATCH, num_workers=1)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    right = seen = 0
    with watch.loop():
        for photos, grades in watch.limited(watch.batches(loader), 7):
            scores = model(photos)
            loss = nn.functional.cross_entropy(scores, grades)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += int((scores.argmax(1) == grades).sum())
            seen += len(grades)
            watch.step()
    print(f"{right / seen:.1%} right, loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
