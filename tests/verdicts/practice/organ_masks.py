"""Segments organs with a small U-Net, and computes Dice's score on held back slices.

Planted: after every tenth step, the score's passes in eval mode build graphs that nothing uses.
Truth: time of the score, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.deep = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(8, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.Upsample(scale_factor=2))
        self.up = nn.Conv2d(32, 1, 3, padding=1)

    def forward(self, slices):
        fine = self.down(slices)
        return self.up(torch.cat([fine, self.deep(fine)], 1))


def dice(model, slices, masks):
    model.eval()
    shared = total = 0
    for part, mask in zip(slices.split(10), masks.split(10)):
        found = model(part).sigmoid() > 0.5
        shared += (found & (mask > 0.5)).sum().item()
        total += found.sum().item() + mask.sum().item()
    model.train()
    return 2 * shared / total


def main():
    torch.manual_seed(219)
    torch.set_num_threads(1)
    model = Unet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    slices, masks, watch, score = torch.rand(240, 1, 40, 40), (torch.rand(240, 1, 40, 40) > 0.7).float(), Stopwatch(), 0.0
    with watch.loop():
        while watch.seconds() < 3.8:
            chosen = torch.randint(160, (10,))
            loss = nn.functional.binary_cross_entropy_with_logits(model(slices[chosen]), masks[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            if len(watch.marks) % 10 == 0:
                with watch.planted():
                    score = dice(model, slices[160:], masks[160:])
    print(f"loss {loss.item():.3f}, Dice {score:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
