"""Trains a classifier of short signals, and tests it after each epoch.

The fault: the test, on the whole set, records gradients: it builds graphs that nobody uses.
"""
import torch
from torch import nn

EPOCHS, BATCH = 6, 64


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, signal):
        return signal + self.narrow(nn.functional.gelu(self.wide(self.norm(signal))))


def accuracy(model, signals, kinds):
    model.eval()
    right = 0
    for first in range(0, len(signals), BATCH):
        guess = model(signals[first:first + BATCH]).argmax(1)
        right += (guess == kinds[first:first + BATCH]).sum().item()
    model.train()
    return right / len(signals)


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    signals = torch.randn(6000, 192)
    kinds = signals[:, :5].argmax(1)
    training, test = slice(0, 2000), slice(2000, 6000)
    model = nn.Sequential(*[Block(192) for _ in range(6)], nn.LayerNorm(192), nn.Linear(192, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(EPOCHS):
        for first in range(0, 2000, BATCH):
            optimizer.zero_grad()
            batch = slice(first, min(first + BATCH, 2000))
            nn.functional.cross_entropy(model(signals[training][batch]), kinds[training][batch]).backward()
            optimizer.step()
        print(f"epoch {epoch}: accuracy {accuracy(model, signals[test], kinds[test]):.3f}")


if __name__ == "__main__":
    main()
