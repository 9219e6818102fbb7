"""A network whose author does not trust single precision: activations are kept as doubles.

Planted: each layer converts its input to single precision and its output back to double.
Truth: time of conversions in the forward pass, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


class Careful(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, values):
        with watch.planted():
            low = values.to(torch.float32)
        out = self.layer(low)
        with watch.planted():
            return out.to(torch.float64)


def main():
    torch.manual_seed(19)
    torch.set_num_threads(1)
    model = nn.Sequential(*[Careful(nn.Linear(64, 64)) for _ in range(8)])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    molecules = torch.rand(8000, 64, dtype=torch.float64)
    with watch.loop():
        while watch.seconds() < 5:
            loss = model(molecules).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
