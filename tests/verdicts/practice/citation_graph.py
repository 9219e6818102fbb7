"""Classifies papers by their citations with a graph network.

Planted: nothing.
Truth: time of choosing the papers that are asked for, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Citations(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(700, 512), nn.Linear(512, 40)

    def forward(self, papers, neighbours):
        hidden = torch.relu(neighbours @ self.first(papers))
        return neighbours @ self.second(hidden)


def main():
    torch.manual_seed(142)
    torch.set_num_threads(1)
    papers, kinds = torch.randn(700, 700), torch.randint(40, (700,))
    neighbours = (torch.rand(700, 700) < 0.01).float() + torch.eye(700)
    neighbours /= neighbours.sum(1, keepdim=True)
    model, watch = Citations(), Stopwatch()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    with watch.loop():
        while watch.seconds() < 3.2:
            with watch.planted():
                asked = torch.randperm(700)[:300]
            loss = nn.functional.cross_entropy(model(papers, neighbours)[asked], kinds[asked])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
