"""Completes rooms from points, which are put into a grid of voxels.

Planted: each step asks for a new grid of 28 MB, of which the system clears the pages.
Truth: time of the kernel for the loop's thread, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(124)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(512, 700), nn.ReLU(), nn.Linear(700, 700), nn.ReLU(), nn.Linear(700, 512))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            points = torch.randint(192, (20000, 3))
            grid = torch.zeros(192, 192, 192)
            grid[points[:, 0], points[:, 1], points[:, 2]] = 1
            blocks = grid.view(-1, 512)[:: 13824 // 96][:96]
            loss = nn.functional.binary_cross_entropy_with_logits(model(blocks), blocks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell(watch.system_s / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
