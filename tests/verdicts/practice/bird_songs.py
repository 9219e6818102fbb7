"""Recognises birds by their songs, with a new selection of clips in each short epoch.

Planted: each epoch makes a DataLoader, whose worker starts and builds its filter bank anew.
Truth: time of the first batch of each epoch, less that of a usual batch, as a share of the loop.
"""
import statistics
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Clips(Dataset):
    def __init__(self, selection):
        self.selection, self.bank = selection, None

    def build_bank(self):
        times = torch.linspace(0, 1, 1024)
        self.bank = torch.stack([torch.sin(pitch * times) * torch.hann_window(1024) for pitch in range(20, 1300)])

    def __len__(self):
        return len(self.selection)

    def __getitem__(self, index):
        clip = torch.randn(16, 1024, generator=torch.Generator().manual_seed(self.selection[index]))
        return (clip @ self.bank[::20].T).abs().log1p(), self.selection[index] % 12


def start(_worker):
    torch.utils.data.get_worker_info().dataset.build_bank()


def main():
    torch.manual_seed(44)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Flatten(), nn.Linear(16 * 64, 700), nn.ReLU(), nn.Linear(700, 400), nn.ReLU(), nn.Linear(400, 12))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch, starts, others = Stopwatch(), [], []
    with watch.loop():
        while watch.seconds() < 3.3:
            loader = DataLoader(Clips(torch.randint(5000, (24 * 10,)).tolist()), batch_size=24, num_workers=1, worker_init_fn=start)
            began, waits = time.perf_counter(), starts
            for clips, birds in loader:
                waits.append(time.perf_counter() - began)
                for _ in range(2):
                    loss = nn.functional.cross_entropy(model(clips), birds)
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                watch.step()
                began, waits = time.perf_counter(), others
    print(f"loss {loss.item():.3f}")
    watch.tell((sum(starts) - len(starts) * statistics.median(others)) / (watch.ended - watch.began), epochs=len(starts))


if __name__ == "__main__":
    main()
