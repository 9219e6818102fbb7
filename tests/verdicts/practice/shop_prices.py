"""Estimates how sales follow prices, with parameters of its own for each of 260 shops.

Planted: RMSprop updates the shops' small parameters one by one.
Truth: time of the optimizer's step, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Sales(nn.Module):
    def __init__(self, shops):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(300, 700), nn.ReLU(), nn.Linear(700, 24))
        self.shops = nn.ParameterList(torch.randn(24) / 5 for _ in range(shops))

    def forward(self, weeks):
        return self.body(weeks) @ torch.stack(list(self.shops)).T


def main():
    torch.manual_seed(221)
    torch.set_num_threads(1)
    model = Sales(260)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, momentum=0.9, centered=True, foreach=False)
    weeks, sold, watch = torch.randn(2000, 300), torch.randn(2000, 260), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            chosen = torch.randint(2000, (200,))
            loss = nn.functional.smooth_l1_loss(model(weeks[chosen]), sold[chosen])
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
