"""Tells from the bones in owl pellets what the owl has eaten: sets of bones of many sizes, padded to one length, a network over sets.

Decoy: torch.save() into memory, a trial with graphs, a thread that asks for the loss under a lock, a sleep, and gc.collect(), all rare or small.
Truth: time of all of these in the loop, of the loop.
"""
import gc
import io
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

BONES, MEASURES, PREY = 48, 20, 12


class Pellets(nn.Module):
    def __init__(self):
        super().__init__()
        self.bone = nn.Sequential(nn.Linear(MEASURES, 256), nn.ReLU(), nn.Linear(256, 320), nn.ReLU(), nn.Linear(320, 256))
        self.eaten = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, PREY))

    def forward(self, bones, there):
        each = self.bone(bones) * there.unsqueeze(2)
        return self.eaten(each.sum(1) / there.sum(1, keepdim=True))


class Watcher(threading.Thread):
    """Has a look at the loss, for a display that nobody minds."""

    def __init__(self):
        super().__init__(daemon=True)
        self.lock = threading.Lock()
        self.loss, self.shown, self.over = 0.0, [], threading.Event()

    def run(self):
        while not self.over.wait(0.2):
            with self.lock:
                self.shown.append(self.loss)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(18)
    watch = Stopwatch()
    model = Pellets()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4, foreach=True)
    bones = torch.randn(20, 40, BONES, MEASURES)
    there = (torch.arange(BONES) < torch.randint(8, BONES, (20, 40, 1))).float()
    prey = torch.randint(PREY, (20, 40))
    watcher = Watcher()
    watcher.start()
    gc.collect()
    gc.freeze()
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            at = number % 19
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(bones[at], there[at]), prey[at])
            loss.backward()
            optimizer.step()
            with watch.planted():
                with watcher.lock:
                    watcher.loss = float(loss.detach())
                if number % 60 == 59:
                    model(bones[19][:10], there[19][:10]).argmax(1)
                    gc.collect()
                    time.sleep(0.002)
                if number % 120 == 119:
                    torch.save(model.state_dict(), io.BytesIO())
            watch.step()
    watcher.over.set()
    watcher.join()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
