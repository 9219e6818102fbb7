"""Tells forged signatures from real ones with a network that sees both.

Planted: nothing.
Truth: time of choosing the pairs, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(237)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(1, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 64, 3, stride=2), nn.ReLU(), nn.Conv2d(64, 128, 3), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 32))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    signatures, watch = torch.rand(800, 1, 32, 32), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            with watch.planted():
                first, second = torch.randint(800, (2, 40))
                forged = (first % 3 == second % 3).float()
                pairs = signatures[torch.cat([first, second])]
            real, other = model(pairs).chunk(2)
            distance = (real - other).pow(2).sum(1)
            loss = (forged * torch.relu(1 - distance) + (1 - forged) * distance).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
