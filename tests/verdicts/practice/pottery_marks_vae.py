"""A variational autoencoder for potters' marks.

Planted: nothing. All data is in memory and the network is most of each step.
Truth: time of cutting a batch out of the data, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Marks(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(1024, 1400), nn.ReLU(), nn.Linear(1400, 800), nn.ReLU(), nn.Linear(800, 64))
        self.decoder = nn.Sequential(nn.Linear(32, 800), nn.ReLU(), nn.Linear(800, 1400), nn.ReLU(), nn.Linear(1400, 1024))

    def forward(self, marks):
        mean, spread = self.encoder(marks).chunk(2, 1)
        return self.decoder(mean + torch.randn_like(mean) * torch.exp(spread * 0.5)), mean, spread


def main():
    torch.manual_seed(16)
    watch = Stopwatch()
    model = Marks()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.rand(256 * 20, 1024)
    with watch.loop():
        while watch.seconds() < 5:
            with watch.planted():
                at = len(watch.marks) % 20 * 256
                marks = data[at:at + 256]
            optimizer.zero_grad()
            made, mean, spread = model(marks)
            loss = nn.functional.mse_loss(made, marks) - 0.001 * (1 + spread - mean.square() - spread.exp()).mean()
            loss.backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
