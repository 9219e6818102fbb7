"""Dates layers of peat: a neural differential equation carries a core's chemistry through time, five steps of Runge and Kutta.

Clean: nothing is planted; each step integrates as many cores over the same five steps, forward and backward.
Truth: nothing comes near a cause, 0.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

CORES, ELEMENTS, WIDTH, STEPS = 512, 40, 256, 5


class Decay(nn.Module):
    """How fast each element changes."""

    def __init__(self):
        super().__init__()
        self.enter, self.inner, self.leave = nn.Linear(ELEMENTS + 1, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, ELEMENTS)

    def forward(self, time, core):
        moment = core.new_full((len(core), 1), time)
        inner = torch.tanh(self.enter(torch.cat([core, moment], 1)))
        return self.leave(torch.tanh(self.inner(inner)))


def integrate(decay, core):
    width = 1 / STEPS
    for number in range(STEPS):
        time = number * width
        k1 = decay(time, core)
        k2 = decay(time + width / 2, core + k1 * (width / 2))
        k3 = decay(time + width / 2, core + k2 * (width / 2))
        k4 = decay(time + width, core + k3 * width)
        core = core + (k1 + 2 * k2 + 2 * k3 + k4) * (width / 6)
    return core


def main():
    torch.manual_seed(66)
    torch.set_num_threads(1)
    watch, decay = Stopwatch(), Decay()
    optimizer = torch.optim.NAdam(decay.parameters(), lr=1e-4, foreach=True)
    young = torch.rand(CORES * 4, ELEMENTS) + 0.1
    old = young * torch.linspace(0.3, 0.9, ELEMENTS)
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            at = slice(number % 4 * CORES, number % 4 * CORES + CORES)
            loss = (integrate(decay, young[at]) - old[at]).square().mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.5f}")
    watch.tell()


main()
