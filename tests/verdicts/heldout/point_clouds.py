"""Tells trees from laser scans with a graph network: each point is joined to its nearest ones.

Planted: distances come from the difference of each point to each other, tensors of 38 MB that are made and dropped.
Truth: time of the distances, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

CLOUDS, POINTS, NEAREST, SPECIES = 3, 1024, 12, 8
WATCH = Stopwatch()


def squared_distances(points):
    with WATCH.planted():
        difference = points[:, :, None, :] - points[:, None, :, :]
        return (difference ** 2).sum(-1)


def nearest(points):
    """For each point the numbers of those around it."""
    return squared_distances(points).topk(NEAREST, largest=False, sorted=False).indices


def gather(features, neighbours):
    clouds, points, width = features.shape
    offset = torch.arange(clouds)[:, None, None] * points
    flat = features.reshape(clouds * points, width)
    return flat.index_select(0, (neighbours + offset).flatten()).view(clouds, points, NEAREST, width)


class EdgeConvolution(nn.Module):
    """Wang et al., Dynamic Graph CNN: the largest of what each edge says."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.edge = nn.Sequential(nn.Linear(2 * inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs))

    def forward(self, features, neighbours):
        around = gather(features, neighbours)
        centre = features[:, :, None].expand_as(around)
        return self.edge(torch.cat([centre, around - centre], -1)).amax(2)


class TreeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.graph = EdgeConvolution(3, 64)
        self.mix = nn.Sequential(nn.Linear(64, 256), nn.ReLU())
        self.species = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, SPECIES))

    def forward(self, points):
        with torch.no_grad():
            neighbours = nearest(points)
        return self.species(self.mix(self.graph(points, neighbours)).amax(1))


class Forest:
    """Scans that are turned a little each time."""

    def __init__(self, count=60):
        self.scans = torch.randn(count, POINTS, 3) * torch.tensor([1.0, 1.0, 2.5])
        self.kinds = torch.arange(count) % SPECIES

    def batches(self):
        while True:
            for chosen in torch.randperm(len(self.scans)).split(CLOUDS):
                angle = torch.rand(()) * 6.28
                turn = torch.tensor([[angle.cos(), -angle.sin(), 0], [angle.sin(), angle.cos(), 0], [0, 0, 1]])
                yield self.scans[chosen] @ turn, self.kinds[chosen]


def main():
    torch.manual_seed(23)
    forest, model = Forest(), TreeNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    with WATCH.loop():
        for points, kinds in WATCH.limited(forest.batches(), 6.5):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(points), kinds)
            loss.backward()
            optimizer.step()
            WATCH.step()
    print(f"loss {loss.item():.3f}")
    WATCH.tell()


if __name__ == "__main__":
    main()
