"""Recognises patterns of carpets with a mixer of channels and places.

Planted: each block turns channels and places with permute and contiguous, forward and back.
Truth: time of the copies in the forward part, as a share of the loop; the same comes again backward.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Block(nn.Module):
    def __init__(self, watch):
        super().__init__()
        self.mix, self.watch = nn.Linear(48, 48), watch

    def forward(self, image):
        with self.watch.planted():
            turned = image.permute(0, 2, 3, 1).contiguous()
        turned = self.mix(turned).relu_()
        with self.watch.planted():
            return turned.permute(0, 3, 1, 2).contiguous()


def main():
    torch.manual_seed(89)
    torch.set_num_threads(1)
    watch = Stopwatch()
    model = nn.Sequential(nn.Conv2d(3, 48, 4, stride=2), *[Block(watch) for _ in range(4)], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 9))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    carpets, names = torch.randn(4, 3, 98, 98), torch.randint(9, (4,))
    with watch.loop():
        while watch.seconds() < 3.4:
            loss = nn.functional.cross_entropy(model(carpets), names)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
