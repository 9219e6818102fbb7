"""Foretells the gauge of a harbour for six hours: dilated convolutions over a day of tide, wind and pressure.

Clean: data in memory, one batch a step, a usual AdamW, all steps alike.
Truth: time of cutting the batch from the record, of the loop.
"""
import torch
from torch import nn
from torch.nn import functional as F

from stopwatch import Stopwatch

SERIES, MINUTES, AHEAD, WIDTH, BATCH = 8, 288, 72, 48, 12


class Gated(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.both = nn.Conv1d(WIDTH, 2 * WIDTH, 3, dilation=dilation)
        self.out = nn.Conv1d(WIDTH, WIDTH, 1)

    def forward(self, x):
        return x + self.out(F.glu(self.both(F.pad(x, (self.pad, 0))), 1))


class Gauge(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(SERIES, WIDTH, 1)
        self.waves = nn.Sequential(*(Gated(2**k) for k in range(6)))
        self.ahead = nn.Conv1d(WIDTH, AHEAD, 1)

    def forward(self, record):
        return self.ahead(self.waves(self.first(record))[:, :, -1:]).squeeze(2)


def record(minutes=40000):
    t = torch.arange(minutes, dtype=torch.float32)
    moon, sun = torch.sin(t * 0.0423), torch.sin(t * 0.0436)
    wind = F.avg_pool1d(torch.randn(1, 1, minutes + 60), 61, stride=1).view(-1) * 4
    rest = torch.randn(SERIES - 3, minutes) * 0.1 + torch.sin(t * torch.rand(SERIES - 3, 1) * 0.1)
    return torch.cat([torch.stack([moon + 0.4 * sun + 0.2 * wind, sun, wind]), rest])


def main():
    torch.manual_seed(61)
    tide, gauge, watch = record(), Gauge(), Stopwatch()
    windows = tide.unfold(1, MINUTES + AHEAD, 1)
    optimizer = torch.optim.AdamW(gauge.parameters(), lr=1e-3)
    total = 0.0
    with watch.loop():
        for step in watch.limited(range(1, 100000), 6):
            with watch.planted():
                cut = windows[:, torch.randint(windows.shape[1], (BATCH,))].transpose(0, 1).contiguous()
            loss = F.huber_loss(gauge(cut[:, :, :MINUTES]), cut[:, 0, MINUTES:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach()
            watch.step()
    print(f"loss {total / step:.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
