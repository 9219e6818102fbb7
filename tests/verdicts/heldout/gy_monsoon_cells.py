"""Rain of the next hour over a coast: a convolutional network fills a map from the few gauges that report.

Planted: each batch's maps are filled gauge by gauge, map[n, row, column] = rain, thousands of tiny operators in a loop in Python.
Truth: time in on_the_map(), of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

SIDE, GAUGES, BATCH = 40, 90, 12
watch = Stopwatch()


class Filler(nn.Sequential):
    def __init__(self, width=16):
        middle = [part for gap in (1, 2, 4) for part in (nn.Conv2d(width, width, 3, padding=gap, dilation=gap), nn.SiLU())]
        super().__init__(nn.Conv2d(2, width, 5, padding=2), nn.SiLU(), *middle, nn.Conv2d(width, 1, 1))


class Coast:
    """Where gauges stand, and what rain there is."""

    def __init__(self, seed):
        self.draw = torch.Generator().manual_seed(seed)
        self.grid = torch.stack(torch.meshgrid(torch.linspace(0, 1, SIDE), torch.linspace(0, 1, SIDE), indexing="ij"))

    def hour(self):
        centre = torch.rand(BATCH, 2, 1, 1, generator=self.draw)
        rain = (-12 * (self.grid - centre).square().sum(1)).exp()
        places = torch.randint(0, SIDE, (BATCH, GAUGES, 2), generator=self.draw)
        return rain, places

    @staticmethod
    def report(rain, places):
        return rain[torch.arange(BATCH)[:, None], places[..., 0], places[..., 1]]


def on_the_map(reports, places):
    with watch.planted():
        maps = torch.zeros(BATCH, 2, SIDE, SIDE)
        for n in range(len(reports)):
            for report, (row, column) in zip(reports[n], places[n].tolist()):
                maps[n, 0, row, column] = report
                maps[n, 1, row, column] = 1.0
    return maps


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    filler, coast = Filler(), Coast(11)
    optimizer = torch.optim.SGD(filler.parameters(), lr=0.02, momentum=0.9, fused=True)
    with watch.loop():
        while watch.seconds() < 6.3:
            rain, places = coast.hour()
            maps = on_the_map(coast.report(rain, places), places)
            loss = nn.functional.mse_loss(filler(maps)[:, 0], rain)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
