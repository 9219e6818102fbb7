"""Translates bird calls with a compiled model.

Planted: each batch has another length, and the model is compiled for each length anew.
Truth: time of forwards with a length that was not there before, less the usual forward, as a share of the loop.
"""
import statistics
import time

import torch
import torch._dynamo
from torch import nn

from stopwatch import Stopwatch


class Calls(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(384, 384) for _ in range(6))

    def forward(self, calls):
        for layer in self.layers:
            calls = calls + torch.relu(layer(calls))
        return calls.mean(1)


def main():
    torch.manual_seed(13)
    torch._dynamo.config.recompile_limit = 4000
    torch._dynamo.config.accumulated_recompile_limit = 4000
    watch = Stopwatch()
    model = Calls()
    compiled = torch.compile(model, backend="eager", dynamic=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    compiled(torch.rand(24, 60, 384)).sum().backward()
    compiled(torch.rand(24, 61, 384)).sum().backward()
    known, new = [], []
    with watch.loop():
        while watch.seconds() < 7:
            step = len(watch.marks)
            length = 62 + step // 2 % 60 if step < 120 else 62 + step % 60
            calls = torch.rand(24, length, 384)
            optimizer.zero_grad()
            began = time.perf_counter()
            out = compiled(calls)
            (new if step < 120 and step % 2 == 0 else known).append(time.perf_counter() - began)
            out.square().mean().backward()
            optimizer.step()
            watch.step()
    watch.tell(share=(sum(new) - len(new) * statistics.median(known)) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
