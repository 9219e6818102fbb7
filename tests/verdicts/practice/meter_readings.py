"""Reads the digits of electricity meters with a CTC loss; rare digits are drawn more often.

Planted: the data set draws each picture in numpy, and the DataLoader has no workers.
Truth: time in the loader's next(), as a share of the loop.
"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

from stopwatch import Stopwatch


class Meters(Dataset):
    def __init__(self, count=960):
        rng = np.random.default_rng(201)
        self.glyphs = rng.random((10, 24, 14))
        self.digits = rng.integers(0, 10, (count, 6))

    def __len__(self):
        return len(self.digits)

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        plate = rng.normal(0.2, 0.05, (32, 96))
        for place, digit in enumerate(self.digits[index]):
            top, left = rng.integers(0, 8), 3 + 15 * place
            plate[top:top + 24, left:left + 14] += self.glyphs[digit]
        for shift in (1, 2, 3):  # the camera shakes
            plate = 0.7 * plate + 0.3 * np.roll(plate, shift, axis=1)
        low, high = np.quantile(plate, (0.05, 0.95))
        plate = np.clip((plate - low) / (high - low), 0, 1).astype(np.float32)
        return torch.from_numpy(plate)[None], torch.from_numpy(self.digits[index] + 1)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.columns = nn.Sequential(nn.Conv2d(1, 24, 3, stride=2, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                     nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d((8, 1)))
        self.head = nn.Linear(48, 11)

    def forward(self, plates):
        return self.head(self.columns(plates).squeeze(2).permute(2, 0, 1)).log_softmax(-1)


def main():
    torch.manual_seed(201)
    torch.set_num_threads(1)
    model, data = Reader(), Meters()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    sampler = WeightedRandomSampler(torch.rand(len(data)), num_samples=len(data))
    loader = DataLoader(data, batch_size=24, sampler=sampler)
    widths, lengths = torch.full((24,), 24), torch.full((24,), 6)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            for plates, digits in watch.limited(watch.batches(loader), 3.2):
                loss = nn.functional.ctc_loss(model(plates), digits, widths, lengths)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
