"""Outlines glaciers.

Planted: every six steps the model and the optimizer are saved to disk.
Truth: time of saving, as a share of the loop.
"""
import os
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(37)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(4, 16, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 32 * 32, 160), nn.ReLU(), nn.Linear(160, 1024))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images, masks, watch = torch.randn(24, 4, 32, 32), torch.rand(24, 1024).round(), Stopwatch()
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder, watch.loop():
        while watch.seconds() < 3.6:
            loss = nn.functional.binary_cross_entropy_with_logits(model(images), masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            if len(watch.marks) % 6 == 0:
                with watch.planted():
                    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, os.path.join(folder, "last.pt"))
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
