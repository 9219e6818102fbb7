"""Takes the magnitudes of stars from digitized photographic plates: an autoencoder of cut-outs with a head for the magnitude.

Planted: the cut-outs come from NumPy as float64, and the network was made double to fit them, so that all matrices are of double width.
Truth: what the step takes longer than the same step in float32, which is measured before the loop; share of the loop.
"""
import statistics
import time

import numpy
import torch
from torch import nn

from stopwatch import Stopwatch

SIDE = 24


class Plates(nn.Module):
    def __init__(self):
        super().__init__()
        self.pack = nn.Sequential(nn.Linear(SIDE * SIDE, 512), nn.SiLU(), nn.Linear(512, 256), nn.SiLU(), nn.Linear(256, 24))
        self.unpack = nn.Sequential(nn.Linear(24, 256), nn.SiLU(), nn.Linear(256, 512), nn.SiLU(), nn.Linear(512, SIDE * SIDE))
        self.magnitude = nn.Linear(24, 1)

    def forward(self, cuts):
        code = self.pack(cuts)
        return self.unpack(code), self.magnitude(code).squeeze(1)


def cut_outs(count, rng):
    y, x = numpy.mgrid[0:SIDE, 0:SIDE]
    light = rng.uniform(0.5, 2.0, count)
    at = rng.uniform(8, 16, (2, count))
    far = (x[None] - at[0][:, None, None]) ** 2 + (y[None] - at[1][:, None, None]) ** 2
    grain = rng.normal(0, 0.05, far.shape)
    return (light[:, None, None] * numpy.exp(-far / 9) + grain).reshape(count, -1), -2.5 * numpy.log10(light)


def train_step(model, optimizer, cuts, magnitudes):
    optimizer.zero_grad()
    again, guess = model(cuts)
    loss = nn.functional.mse_loss(again, cuts) + 0.1 * nn.functional.mse_loss(guess, magnitudes)
    loss.backward()
    optimizer.step()
    return loss


def single_step_s(cuts, magnitudes):
    """The median time of a step in float32."""
    model = Plates()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    times = []
    for _ in range(25):
        began = time.perf_counter()
        train_step(model, optimizer, cuts.float(), magnitudes.float())
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(9)
    watch = Stopwatch()
    rng = numpy.random.default_rng(31)
    plates = [tuple(map(torch.from_numpy, cut_outs(256, rng))) for _ in range(8)]
    single = single_step_s(*plates[0])
    model = Plates().double()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            loss = train_step(model, optimizer, *plates[number % 8])
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell(1 - single / statistics.median(watch.step_times()), single_ms=round(1e3 * single, 2))


if __name__ == "__main__":
    main()
