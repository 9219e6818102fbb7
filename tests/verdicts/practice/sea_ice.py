"""Forecasts sea ice with a U-shaped network.

Planted: nothing; convolutions take nearly all of each step.
Truth: time of choosing the batch, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.deep = nn.Conv2d(6, 24, 3, padding=1), nn.Conv2d(24, 48, 3, stride=2, padding=1)
        self.up, self.last = nn.ConvTranspose2d(48, 24, 2, stride=2), nn.Conv2d(48, 1, 3, padding=1)

    def forward(self, images):
        high = self.down(images).relu()
        return self.last(torch.cat([high, self.up(self.deep(high).relu())], 1))


def main():
    torch.manual_seed(131)
    torch.set_num_threads(1)
    model = Network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images, later, watch = torch.randn(80, 6, 64, 64), torch.randn(80, 1, 64, 64), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.6:
            with watch.planted():
                chosen = torch.randint(80, (6,))
                batch, wanted = images[chosen], later[chosen]
            loss = nn.functional.mse_loss(model(batch), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
