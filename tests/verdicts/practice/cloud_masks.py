"""Inference: a network of convolutions marks clouds in pictures.

Planted: nothing.
Truth: time of reading the share of clouds, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(83)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 48, 3, padding=1, stride=2), nn.ReLU(),
                          nn.Conv2d(48, 48, 3, padding=1), nn.ReLU(), nn.Conv2d(48, 1, 1))
    pictures, clouds, watch = torch.rand(4, 3, 112, 112), 0.0, Stopwatch()
    with watch.loop(), torch.inference_mode():
        while watch.seconds() < 5:
            masks = model(pictures)
            with watch.planted():
                clouds += (masks[:, 0, ::8, ::8] > 0).float().mean().item()
            watch.step()
    print(f"{clouds / len(watch.marks):.3f} clouds")
    watch.tell()


if __name__ == "__main__":
    main()
