"""Fills gaps in the series of tidal gauges with a compiled residual network that looks further back as training goes on.

Planted: the reach is an integer attribute of the module that changes after each 16th step, and torch.compile() compiles anew for each value.
Truth: time of the calls of the model that follow a change, less a usual call, of the loop.
"""
import time

import torch
import torch._dynamo
from torch import nn

from stopwatch import Stopwatch

torch._dynamo.config.recompile_limit = 4000
torch._dynamo.config.accumulated_recompile_limit = 4000


class Gauges(nn.Module):
    def __init__(self):
        super().__init__()
        self.reach = 1
        self.lift = nn.Conv1d(2, 48, 5, padding=2)
        self.blocks = nn.ModuleList([nn.Conv1d(48, 48, 5, padding=2) for _ in range(4)])
        self.out = nn.Conv1d(48, 1, 1)

    def forward(self, series, known):
        x = self.lift(torch.stack([series * known, known], 1))
        for block in self.blocks:
            x = x + torch.relu(block(x)).roll(self.reach, -1)
        return self.out(x).squeeze(1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    model = Gauges()
    compiled = torch.compile(model, backend="aot_eager")
    optimizer, watch = torch.optim.Adam(model.parameters(), lr=1e-3), Stopwatch()
    tides, holes = torch.randn(16, 12, 400), (torch.rand(16, 12, 400) > 0.3).float()
    compiled(tides[0], holes[0]).sum().backward()
    usual = []
    with watch.loop():
        for number in watch.limited(range(100_000), 7):
            if number % 16 == 0:
                model.reach = 2 + number // 16
            began = time.perf_counter()
            filled = compiled(tides[number % 16], holes[number % 16])
            took = time.perf_counter() - began
            if number % 16:
                usual.append(took)
            else:
                watch.planted_s += took - (sorted(usual)[len(usual) // 2] if usual else 0)
            loss = nn.functional.mse_loss(filled, tides[number % 16])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    watch.tell(loss=round(loss.item(), 3), graphs=torch._dynamo.utils.counters["stats"]["unique_graphs"])


if __name__ == "__main__":
    main()
