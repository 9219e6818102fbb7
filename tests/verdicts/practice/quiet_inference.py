"""Classifies tram noises; inference only.

Planted: nothing.
Truth: time of taking the best class to Python, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Noises(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(1, 48, 25, stride=4), nn.ReLU(), nn.Conv1d(48, 64, 9, stride=2), nn.ReLU(), nn.Conv1d(64, 64, 9), nn.ReLU(),
                                    nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, 12))

    def forward(self, noises):
        return self.layers(noises)


def main():
    torch.manual_seed(20)
    watch = Stopwatch()
    model = Noises().eval()
    noises = torch.rand(24, 1, 8000)
    found = [0] * 12
    with watch.loop(), torch.inference_mode():
        while watch.seconds() < 5:
            scores = model(noises)
            with watch.planted():
                for kind in scores.argmax(1).tolist():
                    found[kind] += 1
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
