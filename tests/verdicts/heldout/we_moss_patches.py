"""Learns which mosses grow beside each other from counts on walls: graph convolutions over a fixed neighbourhood.

Decoy: a thread that naps with a lock, a list of losses, gc.collect() of a frozen heap, a trial under no_grad() and clones, all small.
Truth: time of the lock, the list, the collection, the trial and the clones, of the loop.
"""
import gc
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

WALLS, MOSSES, WIDE = 500, 64, 160


class Neighbours(nn.Module):
    def __init__(self, near):
        super().__init__()
        self.register_buffer("near", near)
        self.first, self.second, self.last = nn.Linear(MOSSES, WIDE), nn.Linear(WIDE, WIDE), nn.Linear(WIDE, MOSSES)

    def forward(self, counts):
        x = torch.relu(self.near @ self.first(counts))
        x = torch.relu(self.near @ self.second(x)) + x
        return self.last(x)


class Board:
    """What the web page shows of the training."""

    def __init__(self):
        self.lock, self.over, self.losses, self.shown = threading.Lock(), threading.Event(), [], 0

    def serve(self):
        while not self.over.wait(0.05):
            with self.lock:
                self.shown = len(self.losses)
            time.sleep(0.01)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(6)
    near = torch.rand(WALLS, WALLS).softmax(1)
    counts = torch.poisson(torch.full((8, WALLS, MOSSES), 2.0))
    model, board, watch = Neighbours(near), Board(), Stopwatch()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4)
    page = threading.Thread(target=board.serve)
    gc.collect()
    gc.freeze()
    page.start()
    with watch.loop():
        for number in watch.limited(range(100_000), 6):
            seen = counts[number % 8]
            optimizer.zero_grad()
            loss = nn.functional.poisson_nll_loss(model(seen), seen)
            loss.backward()
            optimizer.step()
            with watch.planted():
                with board.lock:
                    board.losses.append(loss.detach())
                if number % 20 == 0:
                    gc.collect()
                    with torch.no_grad():
                        nn.functional.relu(model.first(seen[:64])).mean()
                    kept = [p.detach().clone() for p in model.parameters()]
            watch.step()
    board.over.set()
    page.join()
    watch.tell(loss=round(loss.item(), 3), kept=len(kept))


if __name__ == "__main__":
    main()
