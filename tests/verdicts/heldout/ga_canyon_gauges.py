"""Forecasts the flow at a hundred gauges in canyons: one shared encoder, and for each gauge a small head of its own.

Planted: the heads are hundreds of small parameters, and AdamW goes through them one by one with its operators
(foreach=False, as a forum once advised).
Truth: time in optimizer.step(), of the loop.
"""
import argparse
import math

import torch
from torch import nn

from stopwatch import Stopwatch


class GaugeHead(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))
        self.read = nn.Parameter(torch.randn(width) / math.sqrt(width))
        self.base = nn.Parameter(torch.zeros(1))


class Canyons(nn.Module):
    def __init__(self, gauges, lags=36, width=160):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(lags, 384), nn.GELU(), nn.Linear(384, 384), nn.GELU(), nn.Linear(384, width))
        self.heads = nn.ModuleList(GaugeHead(width) for _ in range(gauges))

    def forward(self, past):  # batch, gauge, lag
        z = self.encoder(past)
        scale = torch.stack([head.scale for head in self.heads])
        shift = torch.stack([head.shift for head in self.heads])
        read = torch.stack([head.read for head in self.heads])
        base = torch.cat([head.base for head in self.heads])
        return ((z * scale + shift) * read).sum(2) + base


def rivers(gauges, hours):
    t = torch.arange(hours).float()
    phase = torch.rand(gauges, 1) * 6
    flow = torch.sin(t / 24 * 2 * math.pi + phase) + 0.4 * torch.sin(t / 171 * 2 * math.pi + 2 * phase)
    return flow + 0.1 * torch.randn(gauges, hours)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--gauges", type=int, default=110)
    arguments.add_argument("--batch", type=int, default=14)
    arguments.add_argument("--lags", type=int, default=36)
    options = arguments.parse_args()
    torch.manual_seed(9)
    flow = rivers(options.gauges, 4000)
    model = Canyons(options.gauges, options.lags)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-3, foreach=False)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 6:
            starts = torch.randint(flow.shape[1] - options.lags - 1, (options.batch,))
            windows = flow.unfold(1, options.lags + 1, 1)[:, starts].transpose(0, 1)
            loss = nn.functional.smooth_l1_loss(model(windows[..., :-1]), windows[..., -1])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
