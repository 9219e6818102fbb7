"""Torques of an exoskeleton's knee: NumPy holds the walks and cuts windows out of them, PyTorch trains a mixer over moments and sensors.

Clean: windows are views of one array, taken by one index a batch, and become a tensor without a copy of their own; fused Adam, one thread.
Truth: time of cutting the windows, as a share of the loop; nothing else is nearer to a cause.
"""
import numpy as np
import torch
from torch import nn

from stopwatch import Stopwatch

SENSORS, MOMENTS, BATCH, WALK = 16, 64, 128, 50000


class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.moments = nn.Sequential(nn.LayerNorm(MOMENTS), nn.Linear(MOMENTS, 2 * MOMENTS), nn.SiLU(), nn.Linear(2 * MOMENTS, MOMENTS))
        self.sensors = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, width))

    def forward(self, walk):
        walk = walk + self.moments(walk.transpose(1, 2)).transpose(1, 2)
        return walk + self.sensors(walk)


class Knee(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.enter = nn.Linear(SENSORS, width)
        self.mixers = nn.Sequential(Mixer(width), Mixer(width), Mixer(width))
        self.torque = nn.Linear(width, 1)

    def forward(self, walk):
        return self.torque(self.mixers(self.enter(walk)).mean(1))[:, 0]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(15)
    draw = np.random.default_rng(15)
    walk = draw.standard_normal((WALK, SENSORS)).astype(np.float32)
    torque = np.convolve(walk[:, 2] - walk[:, 5], np.full(8, 0.125, np.float32), "same")
    windows = np.lib.stride_tricks.sliding_window_view(walk, MOMENTS, 0).transpose(0, 2, 1)
    knee, watch = Knee(), Stopwatch()
    optimizer = torch.optim.Adam(knee.parameters(), lr=5e-4, fused=True)
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                at = draw.integers(0, len(windows), BATCH)
                cut, goal = torch.from_numpy(windows[at]), torch.from_numpy(torque[at + MOMENTS // 2])
            loss = nn.functional.mse_loss(knee(cut), goal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
