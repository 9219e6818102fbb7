"""Fits a network to a spectrum by L-BFGS.

Decoy of an optimizer that dominates: L-BFGS calls the closure, so nearly the whole step is inside optimizer.step(),
but it is the forward and backward passes.
Truth: time of the step outside the closure, as a share of the loop.
"""
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(78)
    model = nn.Sequential(nn.Linear(16, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1))
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.05, max_iter=2, history_size=2)
    lines = torch.randn(10000, 16)
    heights = (lines[:, :1] * 2).sin()
    watch, closures = Stopwatch(), [0.0]

    def closure():
        began = time.perf_counter()
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(lines), heights)
        loss.backward()
        closures[0] += time.perf_counter() - began
        return loss

    with watch.loop():
        while watch.seconds() < 3.3:
            loss = optimizer.step(closure)
            watch.step()
    print(f"loss {loss.item():.4f}")
    loop_s = watch.ended - watch.began
    watch.tell(1 - closures[0] / loop_s)


if __name__ == "__main__":
    main()
