"""Trains a mixer over windows of pictures, which are shifted in every second block.

Planted: each block copies its input into windows and back, with permutations and contiguous().
Truth: time of these copies in the forward pass, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


class Block(nn.Module):
    def __init__(self, width, shift):
        super().__init__()
        self.shift, self.mix = shift, nn.Linear(width, width)

    def forward(self, pictures):
        batch, rows, columns, width = pictures.shape
        with watch.planted():
            windows = pictures.roll((self.shift, self.shift), (1, 2)).view(batch, rows // 4, 4, columns // 4, 4, width)
            windows = windows.permute(0, 1, 3, 2, 4, 5).contiguous()
        mixed = self.mix(windows.view(-1, 16, width))
        with watch.planted():
            mixed = mixed.view(batch, rows // 4, columns // 4, 4, 4, width).permute(0, 1, 3, 2, 4, 5).contiguous()
        return pictures + mixed.view(batch, rows, columns, width)


def main():
    torch.manual_seed(118)
    torch.set_num_threads(1)
    model = nn.Sequential(*(Block(48, 2 * (number % 2)) for number in range(4)))
    head = nn.Linear(48, 6)
    optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.01)
    with watch.loop():
        while watch.seconds() < 3.2:
            pictures = torch.randn(6, 48, 48, 48)
            loss = nn.functional.cross_entropy(head(model(pictures)).mean((1, 2)), torch.randint(6, (6,)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
