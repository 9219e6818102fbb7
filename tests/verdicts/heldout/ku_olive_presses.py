"""Forecasts how much oil an olive press gives, with a mixture of experts; a thread picks batches and puts them on a queue.

Decoy: the thread is always ahead, the loss is read with item() and printed with a flush now and then, a lock guards the
running mean, and the mean weights are kept each 40 steps; all of this is small.
Truth: time of queue, lock, print and mean weights, of the loop.
"""
import os
import queue
import sys
import threading

import torch
from torch import nn

from stopwatch import Stopwatch

FACTS, BATCH, EXPERTS = 64, 384, 4


class Experts(nn.Module):
    def __init__(self, width=320):
        super().__init__()
        self.gate = nn.Linear(FACTS, EXPERTS)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(FACTS, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)) for _ in range(EXPERTS))

    def forward(self, harvest):
        said = torch.cat([expert(harvest) for expert in self.experts], 1)
        return (self.gate(harvest).softmax(1) * said).sum(1)


class Press(threading.Thread):
    """Picks batches of the harvest from memory; four wait at most."""

    def __init__(self):
        super().__init__(daemon=True)
        self.ready, self.closed = queue.Queue(4), threading.Event()
        self.harvest = torch.rand(6144, FACTS)
        self.oil = self.harvest[:, :5].sum(1) * self.harvest[:, 6]

    def run(self):
        start = 0
        while not self.closed.is_set():
            self.ready.put((self.harvest[start:start + BATCH].clone(), self.oil[start:start + BATCH].clone()))
            start = (start + BATCH) % len(self.harvest)


def main():
    torch.manual_seed(2)
    model, press, watch, lock = Experts(), Press(), Stopwatch(), threading.Lock()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    mean, kept, diary = 0.0, None, open(os.devnull, "w")
    press.start()
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            with watch.planted():
                harvest, oil = press.ready.get()
            loss = nn.functional.mse_loss(model(harvest), oil)
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            optimizer.step()
            with watch.planted():
                with lock:
                    mean += 0.01 * (loss.item() - mean)
                if number % 10 == 0:
                    print(f"{number} {mean:.4f}", file=diary, flush=True)
                if number % 40 == 0:
                    kept = {name: value.clone() for name, value in model.state_dict().items()}
            watch.step()
    press.closed.set()
    press.ready.get()
    diary.close()
    print(f"mean {mean:.4f}, {len(kept)} kept", file=sys.stderr)
    watch.tell()


if __name__ == "__main__":
    main()
