"""Finds arrhythmias in electrocardiograms with a one-dimensional CNN.

Planted: the data set filters each recording with numpy's FFT, and the DataLoader has no workers.
Truth: time that the loop spends in the loader, as a share of the loop.
"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Recordings(Dataset):
    def __init__(self, count):
        self.random = np.random.default_rng(101)
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        signal = self.random.standard_normal(4096).astype(np.float32)
        spectrum = np.fft.rfft(signal)
        spectrum[:8] = 0
        spectrum[600:] = 0
        signal = np.fft.irfft(spectrum)
        signal = (signal - np.median(signal)) / (np.percentile(signal, 95) - np.percentile(signal, 5))
        return torch.from_numpy(signal.astype(np.float32))[None], index % 5


def main():
    torch.manual_seed(101)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv1d(1, 24, 9, stride=2), nn.ReLU(), nn.Conv1d(24, 16, 9, stride=2), nn.ReLU(), nn.Conv1d(16, 48, 9, stride=4),
                          nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(48, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch = Stopwatch()
    with watch.loop():
        for beats, kinds in watch.limited(watch.batches(DataLoader(Recordings(16 * 300), batch_size=16)), 3.2):
            loss = nn.functional.cross_entropy(model(beats), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
