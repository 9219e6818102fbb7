"""Classifies clouds with a mixer, whose blocks mix places and channels by turns.

Planted: each block copies its input into the other order of axes, and copies it back.
Truth: time of the copies in the forward pass, as a share of the loop; the backward pass copies as well.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


def turned(hidden):
    with watch.planted():
        return hidden.transpose(1, 2).contiguous()


class Block(nn.Module):
    def __init__(self, places, width):
        super().__init__()
        self.near, self.far, self.channels = nn.Linear(places, places), nn.Linear(places, places), nn.Linear(width, width)

    def forward(self, hidden):
        hidden = turned(self.near(turned(hidden)))
        hidden = turned(self.far(turned(hidden)))
        return torch.relu(self.channels(hidden))


def main():
    torch.manual_seed(220)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(24, 24), *(Block(28, 24) for _ in range(5)), nn.Flatten(), nn.Linear(28 * 24, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    clouds = torch.randn(500, 28, 24)
    with watch.loop():
        while watch.seconds() < 3.2:
            chosen = torch.randint(500, (200,))
            loss = nn.functional.cross_entropy(model(clouds[chosen]), chosen % 10)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
