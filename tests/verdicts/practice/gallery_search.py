"""Learns embeddings of products, and looks now and then how well a gallery is found.

Planted: the gallery is embedded with gradients enabled, every 12 steps; its graphs are thrown away.
Truth: time of looking, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.head = nn.Linear(192, 64)

    def forward(self, pictures):
        return nn.functional.normalize(self.head(self.body(pictures)))


def recall(embedder, queries, gallery):
    embedder.eval()
    found = torch.cat([embedder(part) for part in gallery.split(64)])
    asked = embedder(queries)
    hits = (asked @ found.T).topk(5).indices == torch.arange(len(queries))[:, None]
    embedder.train()
    return hits.any(1).float().mean().item()


def main():
    torch.manual_seed(54)
    embedder = Embedder()
    optimizer = torch.optim.SGD(embedder.parameters(), lr=0.05)
    products = torch.rand(512, 3, 32, 32)
    watch, found = Stopwatch(), 0.0
    with watch.loop():
        while watch.seconds() < 3.3:
            anchors = products[torch.randint(512, (24,))]
            left, right = embedder(anchors), embedder(anchors.flip(3))
            loss = nn.functional.cross_entropy(left @ right.T / 0.1, torch.arange(24))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            if len(watch.marks) % 12 == 0:
                with watch.planted():
                    found = recall(embedder, products[:48], products)
    print(f"loss {loss.item():.3f} recall {found:.2f}")
    watch.tell()


if __name__ == "__main__":
    main()
