"""Trains a policy for watering an orchard, against a simulator in a process of its own.

Planted: each step sends its action through a pipe and waits for the answer, which takes 6 ms.
Truth: time of waiting for the answer, as a share of the loop.
"""
import multiprocessing
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def simulate(pipe):
    while pipe.recv() is not None:
        time.sleep(0.006)
        pipe.send([0.1] * 32)


def main():
    torch.manual_seed(19)
    torch.set_num_threads(1)
    here, there = multiprocessing.Pipe()
    simulator = multiprocessing.get_context("spawn").Process(target=simulate, args=(there,), daemon=True)
    simulator.start()
    model = nn.Sequential(nn.Linear(32, 700), nn.Tanh(), nn.Linear(700, 700), nn.Tanh(), nn.Linear(700, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    here.send([0])
    here.recv()
    memory, watch = torch.randn(220, 32), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            with watch.planted():
                here.send([1, 2, 3, 4])
                state = here.recv()
            memory[0] = torch.tensor(state)
            loss = model(memory).log_softmax(1)[:, 1].mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    here.send(None)
    simulator.join()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
