"""Recognises insects by the sound of their wings.

Planted: nothing; a DataLoader cuts batches from tensors in memory, which takes little of a step.
Truth: time that the loop waits for its batches, as a share of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch


def main():
    torch.manual_seed(149)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv1d(1, 32, 15, stride=2), nn.ReLU(), nn.Conv1d(32, 48, 9, stride=2), nn.ReLU(),
                          nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(192, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(TensorDataset(torch.randn(640, 1, 1000), torch.randint(8, (640,))), batch_size=32, shuffle=True)
    watch = Stopwatch()
    with watch.loop():
        for _ in watch.limited(range(100), 3.4):
            for sounds, insects in watch.limited(watch.batches(loader), 3.4):
                loss = nn.functional.cross_entropy(model(sounds), insects)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
