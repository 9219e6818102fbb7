"""Draws layers of peat anew from a few numbers: a variational autoencoder over cores that were drilled in a bog.

Clean: nothing is planted; batches of one shape are drawn by index from memory.
Truth: nothing comes near a cause, 0.
"""
import torch
from torch import nn
from torch.nn import functional as F

from stopwatch import Stopwatch

DEPTH, POLLEN, CODE = 128, 16, 12


class Bog(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.down = nn.Sequential(nn.Conv1d(POLLEN, width, 5, stride=2, padding=2), nn.ELU(),
                                  nn.Conv1d(width, 2 * width, 5, stride=2, padding=2), nn.ELU(), nn.Flatten())
        self.code = nn.Linear(2 * width * DEPTH // 4, 2 * CODE)
        self.open = nn.Linear(CODE, 2 * width * DEPTH // 4)
        self.up = nn.Sequential(nn.Unflatten(1, (2 * width, DEPTH // 4)), nn.ConvTranspose1d(2 * width, width, 4, stride=2, padding=1),
                                nn.ELU(), nn.ConvTranspose1d(width, POLLEN, 4, stride=2, padding=1))

    def forward(self, cores):
        mean, spread = self.code(self.down(cores)).chunk(2, 1)
        code = mean + torch.randn_like(mean) * (0.5 * spread).exp()
        return self.up(self.open(code)), mean, spread


def bound(bog, cores):
    drawn, mean, spread = bog(cores)
    apart = -0.5 * (1 + spread - mean ** 2 - spread.exp()).sum(1).mean()
    return F.mse_loss(drawn, cores, reduction="sum") / len(cores) + apart


def main():
    torch.manual_seed(55)
    bog, watch = Bog(), Stopwatch()
    optimizer = torch.optim.SGD(bog.parameters(), lr=1e-6, momentum=0.9, fused=True)
    cores = torch.randn(600, POLLEN, DEPTH)
    with watch.loop():
        while watch.seconds() < 6:
            drilled = cores[torch.randint(len(cores), (40,))]
            loss = bound(bog, drilled)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"bound {loss.item():.2f}")
    watch.tell()


main()
