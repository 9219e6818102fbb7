"""Grades dried tea leaves from small photographs: depthwise and pointwise convolutions with residuals, trained on whole batches.

Clean: nothing is planted; photographs of one size come from memory, and each step does the same.
Truth: nothing comes near a cause, 0.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

GRADES, SIDE, BATCH, BATCHES = 8, 32, 24, 20


class Leaf(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.across = nn.Conv2d(width, width, 5, padding=2, groups=width)
        self.norm = nn.GroupNorm(4, width)
        self.mix = nn.Sequential(nn.Conv2d(width, 3 * width, 1), nn.GELU(), nn.Conv2d(3 * width, width, 1))

    def forward(self, leaf):
        return leaf + self.mix(self.norm(self.across(leaf)))


def main():
    torch.manual_seed(70)
    watch = Stopwatch()
    grader = nn.Sequential(nn.Conv2d(3, 40, 2, stride=2), *(Leaf(40) for _ in range(3)),
                           nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(160, GRADES))
    optimizer = torch.optim.SGD(grader.parameters(), lr=1e-3, momentum=0.9, fused=True)
    photographs = torch.rand(BATCHES, BATCH, 3, SIDE, SIDE)
    grades = torch.randint(GRADES, (BATCHES, BATCH))
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(grader(photographs[number % BATCHES]), grades[number % BATCHES])
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
