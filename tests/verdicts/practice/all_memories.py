"""Recognises faces of sheep by comparing them with all faces seen before.

Planted: the memory of faces is made anew with torch.cat in each step, and it only grows.
Truth: time of torch.cat and of comparing, less that of the first twenty steps, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(9)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(800, 800), nn.ReLU(), nn.Linear(800, 800), nn.ReLU(), nn.Linear(800, 128))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    sheep = torch.rand(64, 800)
    memory, first = torch.rand(64, 128), 0.0
    with watch.loop():
        while watch.seconds() < 7:
            optimizer.zero_grad()
            faces = model(sheep + 0.001 * len(watch.marks))
            with watch.planted():
                memory = torch.cat([memory, faces.detach()])
                nearest = (faces.detach() @ memory.T).max(1).indices
            nn.functional.mse_loss(faces, memory[nearest] * 0.5).backward()
            optimizer.step()
            watch.step()
            if len(watch.marks) == 20:
                first = watch.planted_s / 20
    watch.tell(share=(watch.planted_s - first * len(watch.marks)) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
