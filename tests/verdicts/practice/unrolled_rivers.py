"""Forecasts the levels of rivers by a recurrent cell that is called by hand.

Decoy of small operators and Python: a loop in Python over time, but each operator works on a large batch.
Truth: time that an empty loop with as many calls takes, as a share of the loop.
"""
import time

import torch
from torch import nn

from stopwatch import Stopwatch


class Cell(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.mix = nn.Linear(inputs + width, width)

    def forward(self, seen, state):
        return torch.tanh(self.mix(torch.cat([seen, state], 1)))


def main():
    torch.manual_seed(239)
    torch.set_num_threads(1)
    cell, head = Cell(96, 320), nn.Linear(320, 1)
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01)
    levels, watch = torch.randn(8, 3000, 96), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.6:
            chosen, state = torch.randint(3000, (240,)), torch.zeros(240, 320)
            for hour in levels:
                state = cell(hour[chosen], state)
            loss = nn.functional.mse_loss(head(state)[:, 0], levels[-1, chosen, 0])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    nothing, began = nn.Identity(), time.perf_counter()
    for _ in range(1000):
        nothing(levels)
    one_call = (time.perf_counter() - began) / 1000
    print(f"loss {loss.item():.3f}")
    watch.tell(one_call * 16 * len(watch.marks) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
