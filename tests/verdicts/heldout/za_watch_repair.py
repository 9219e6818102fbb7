"""Hears what is wrong with a watch from the ticks of its escapement: a network learns from spectra of a minute's ticks.

Planted: a guard against bad steps arms itself after the learning rate's warm-up, and from then on copies everything in each step.
Truth: time of the guard, of the loop.
"""
import copy

import torch
from torch import nn

from stopwatch import Stopwatch

FAULTS, BINS, BATCH = 9, 400, 48


class Guard:
    """Keeps the last good state, and goes back to it if a step has spoilt the weights."""

    def __init__(self, model, optimizer, armed_after):
        self.model, self.optimizer, self.armed_after = model, optimizer, armed_after
        self.good, self.steps = None, 0

    def after_step(self):
        self.steps += 1
        if self.steps <= self.armed_after:
            return
        if all(torch.isfinite(weight).all() for weight in self.model.parameters()):
            self.good = copy.deepcopy((self.model.state_dict(), self.optimizer.state_dict()))
        elif self.good:
            self.model.load_state_dict(self.good[0])
            self.optimizer.load_state_dict(self.good[1])


class Ear(nn.Module):
    def __init__(self, width=1100):
        super().__init__()
        self.enter = nn.Linear(BINS, width)
        self.deep = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.fault = nn.Linear(width, FAULTS)

    def forward(self, ticks):
        heard = torch.tanh(self.enter(ticks))
        for layer in self.deep:
            heard = heard + torch.tanh(layer(heard))
        return self.fault(heard)


def minutes(count):
    faults = torch.randint(FAULTS, (count, BATCH))
    tones = torch.rand(FAULTS, BINS)
    return tones[faults] + 0.3 * torch.randn(count, BATCH, BINS), faults


def main():
    torch.manual_seed(60)
    torch.set_num_threads(1)
    watch, ear = Stopwatch(), Ear()
    optimizer = torch.optim.Adam(ear.parameters(), lr=1e-4, fused=True)
    warm_up = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=50)
    guard = Guard(ear, optimizer, armed_after=50)
    ticks, faults = minutes(40)
    with watch.loop():
        for number in watch.limited(range(100000), 7):
            loss = nn.functional.cross_entropy(ear(ticks[number % 40]), faults[number % 40])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            warm_up.step()
            with watch.planted():
                guard.after_step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
