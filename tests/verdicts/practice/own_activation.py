"""Counts cells under a microscope, with an activation that has a backward pass of its own.

Planted: nothing.
Truth: time of drawing pictures, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Soft(torch.autograd.Function):
    @staticmethod
    def forward(context, values):
        squashed = torch.tanh(values)
        context.save_for_backward(squashed)
        return values * 0.1 + squashed

    @staticmethod
    def backward(context, slopes):
        squashed, = context.saved_tensors
        return slopes * (1.1 - squashed * squashed)


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 32, 5, padding=2), nn.Conv2d(32, 48, 3, padding=1)
        self.third, self.count = nn.Conv2d(48, 48, 3, padding=1), nn.Linear(48, 1)

    def forward(self, pictures):
        hidden = nn.functional.max_pool2d(Soft.apply(self.first(pictures)), 2)
        hidden = nn.functional.max_pool2d(Soft.apply(self.second(hidden)), 2)
        return self.count(Soft.apply(self.third(hidden)).mean((2, 3)))


def main():
    torch.manual_seed(74)
    model = Cells()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    slides, counts = torch.rand(300, 1, 48, 48), torch.rand(300, 1)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            with watch.planted():
                chosen = torch.randint(300, (20,))
                pictures, wanted = slides[chosen], counts[chosen]
            loss = nn.functional.mse_loss(model(pictures), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
