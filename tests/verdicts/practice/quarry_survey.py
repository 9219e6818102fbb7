"""Estimates stone in a quarry from echoes in three dimensions.

Planted: nothing; convolutions take nearly all of each step.
Truth: time of the optimizer, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(151)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv3d(1, 12, 3), nn.ReLU(), nn.Conv3d(12, 16, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool3d(2), nn.Flatten(), nn.Linear(128, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    echoes, stone, watch = torch.randn(6, 1, 24, 24, 24), torch.randn(6, 1), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.6:
            loss = nn.functional.mse_loss(model(echoes), stone)
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
