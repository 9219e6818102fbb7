"""Trains a diffusion model for small pictures, as an MLP that sees the noise's level.

Planted: nothing.
Truth: time of making the noisy pictures, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.level = nn.Linear(1, 1400)
        self.enter, self.inner, self.leave = nn.Linear(784, 1400), nn.Linear(1400, 1400), nn.Linear(1400, 784)

    def forward(self, noisy, level):
        hidden = nn.functional.silu(self.enter(noisy) + self.level(level))
        return self.leave(nn.functional.silu(self.inner(hidden)))


def main():
    torch.manual_seed(141)
    torch.set_num_threads(1)
    model = Denoiser()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    pictures, watch = torch.rand(8000, 784), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            clean = pictures[torch.randint(8000, (64,))]
            with watch.planted():
                level = torch.rand(64, 1)
                noise = torch.randn_like(clean)
                noisy = (1 - level) * clean + level * noise
            loss = nn.functional.mse_loss(model(noisy, level), noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
