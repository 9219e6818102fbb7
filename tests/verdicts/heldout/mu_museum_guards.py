"""Tells from the steps heard in a museum where the guards walk: a recurrent network over microphones, with all that a careful trainer has.

Decoy: the loader has a process of its own that stays ahead, each 50th step is tried on one held batch, garbage is collected of a frozen
heap, a thread prints a pulse; all of that takes a moment.
Truth: time that the loop waits for batches, of the trial and of the collection, of the loop.
"""
import gc
import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

MICROPHONES, MOMENTS, ROOMS = 10, 40, 12


class Nights(Dataset):
    """Heard once, and walked through again and again."""

    def __init__(self, count, heard=1200):
        self.count, self.room = count, torch.arange(heard) % ROOMS
        steps = torch.sin(torch.arange(MOMENTS)[:, None] * (0.1 + 0.05 * self.room[:, None, None]) + torch.arange(MICROPHONES))
        self.steps = steps + 0.2 * torch.randn(heard, MOMENTS, MICROPHONES)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.steps[index % len(self.steps)], self.room[index % len(self.steps)]


class Ears(nn.Module):
    def __init__(self):
        super().__init__()
        self.hear = nn.GRU(MICROPHONES, 224, num_layers=2, batch_first=True)
        self.room = nn.Linear(224, ROOMS)

    def forward(self, nights):
        return self.room(self.hear(nights)[0].mean(1))


class Pulse(threading.Thread):
    """So that the night porter sees that the training lives."""

    def __init__(self):
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.beats = 0

    def run(self):
        while not self.over.wait(0.5):
            self.beats += 1


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    model, watch, pulse = Ears(), Stopwatch(), Pulse()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    loader = iter(DataLoader(Nights(100000), batch_size=32, num_workers=1, prefetch_factor=8))
    held = next(loader)
    gc.collect()
    gc.freeze()
    pulse.start()
    best = 0.0
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                nights, room = next(loader)
            loss = nn.functional.cross_entropy(model(nights), room)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            if len(watch.marks) % 50 == 0:
                with watch.planted():
                    with torch.no_grad():
                        best = max(best, (model(held[0]).argmax(1) == held[1]).float().mean().item())
                    gc.collect()
    pulse.over.set()
    print(f"best {best:.3f}, {pulse.beats} beats")
    watch.tell()


if __name__ == "__main__":
    main()
