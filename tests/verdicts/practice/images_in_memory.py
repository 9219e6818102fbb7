"""Classifies thumbnails from a TensorDataset.

Decoy of a loader without workers: there is none, but the images are tensors already, and a batch takes little.
Truth: time in the loader's next(), as a share of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch


def main():
    torch.manual_seed(29)
    images, labels = torch.rand(640, 3, 40, 40), torch.randint(12, (640,))
    loader = DataLoader(TensorDataset(images, labels), batch_size=32, shuffle=True, num_workers=0)
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 40, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(40, 80, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(320, 12))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 10:
            for batch, target in watch.limited(watch.batches(loader), 10):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(batch), target)
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
