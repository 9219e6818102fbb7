"""Finds damaged gearboxes from their vibrations, which an endless stream delivers.

Planted: the only worker computes envelopes and spectra in numpy, which takes longer than a training step.
Truth: time that the loop waits for the next batch.
"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from stopwatch import Stopwatch


class Vibrations(IterableDataset):
    def __init__(self, batch):
        self.batch = batch

    def __iter__(self):
        rng = np.random.default_rng(202)
        while True:
            damaged = rng.integers(0, 2, self.batch)
            waves = rng.normal(size=(self.batch, 8192)) * (1 + damaged[:, None] * np.sin(np.arange(8192) / 60))
            spectra = np.fft.rfft(waves)
            spectra[:, :200] = 0
            envelopes = np.abs(np.fft.irfft(spectra))
            bands = np.log1p(np.abs(np.fft.rfft(envelopes))[:, :4096])
            yield torch.from_numpy(bands.astype(np.float32)), torch.from_numpy(damaged)


def main():
    torch.manual_seed(202)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(4096, 300), nn.GELU(), nn.Linear(300, 300), nn.GELU(), nn.Linear(300, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    watch = Stopwatch()
    with watch.loop():
        for bands, damaged in watch.limited(watch.batches(DataLoader(Vibrations(64), batch_size=None, num_workers=1)), 3.4):
            loss = nn.functional.cross_entropy(model(bands), damaged)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
