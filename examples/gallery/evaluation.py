"""Trains a classifier of short signals, and tests it after each epoch.

The fault: the test adds up losses that record gradients, so that it builds and keeps the graphs of all batches.
"""
import torch
from torch import nn

EPOCHS, BATCH = 15, 250


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, signal):
        return signal + self.narrow(nn.functional.gelu(self.wide(self.norm(signal))))


def test_loss(model, signals, kinds):
    model.eval()
    loss = 0
    for first in range(0, len(signals), BATCH):
        batch = slice(first, first + BATCH)
        loss += nn.functional.cross_entropy(model(signals[batch]), kinds[batch], reduction="sum")
    model.train()
    return float(loss) / len(signals)


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    signals = torch.randn(6000, 64)
    kinds = signals[:, :5].argmax(1)
    training, test = slice(0, 2000), slice(2000, 6000)
    model = nn.Sequential(*[Block(64) for _ in range(6)], nn.LayerNorm(64), nn.Linear(64, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(EPOCHS):
        for first in range(0, 2000, BATCH):
            optimizer.zero_grad()
            batch = slice(first, min(first + BATCH, 2000))
            nn.functional.cross_entropy(model(signals[training][batch]), kinds[training][batch]).backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {test_loss(model, signals[test], kinds[test]):.3f}")


if __name__ == "__main__":
    main()
