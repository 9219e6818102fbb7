"""Forecasts temperature with a residual MLP; a plain loop over a tensor.

Planted: nothing.
Truth: time of slicing the batches, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, hidden):
        return hidden + self.inner(hidden)


def main():
    torch.manual_seed(28)
    stations = torch.randn(30_000, 72)
    tomorrow = stations[:, :8].mean(1, keepdim=True)
    model = nn.Sequential(nn.Linear(72, 320), *(Residual(320) for _ in range(4)), nn.Linear(320, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    watch, epoch = Stopwatch(), 0
    with watch.loop():
        while watch.seconds() < 9:
            for first in watch.limited(range(0, len(stations), 512), 9):
                with watch.planted():
                    batch, target = stations[first:first + 512], tomorrow[first:first + 512]
                loss = nn.functional.mse_loss(model(batch), target)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
            epoch += 1
    print(f"{epoch} epochs, loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
