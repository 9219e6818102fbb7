"""Segments scans whose decoding takes longer than a training step.

Decoy of slow workers: a batch takes a worker longer than a step, but the two workers together keep the queue full.
Truth: time that the loop waits for batches after the first, as a share of the loop. `production_ms`: of a batch in a worker.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

DECODE_S, BATCH = 0.019, 8


class Scans(Dataset):
    def __init__(self, count):
        self.count = count
        self.scan = torch.rand(1, 48, 48, generator=torch.Generator().manual_seed(35))

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(DECODE_S)
        return self.scan, (self.scan > 0.5).float()


def main():
    torch.manual_seed(35)
    model = nn.Sequential(nn.Conv2d(1, 80, 3, padding=1), nn.ReLU(), nn.Conv2d(80, 80, 3, padding=1), nn.ReLU(),
                          nn.Conv2d(80, 80, 3, padding=1), nn.ReLU(), nn.Conv2d(80, 1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Scans(BATCH * 400), batch_size=BATCH, num_workers=2, prefetch_factor=4)
    watch, first_s = Stopwatch(), None
    with watch.loop():
        for scans, masks in watch.limited(watch.batches(loader), 11):
            first_s = watch.planted_s if first_s is None else first_s
            loss = nn.functional.binary_cross_entropy_with_logits(model(scans), masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell((watch.planted_s - first_s) / (watch.ended - watch.began), production_ms=round(1e3 * DECODE_S * BATCH))


if __name__ == "__main__":
    main()
