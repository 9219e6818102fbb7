"""Trains a ranking of advertisements, then tidies up and uploads the model.

Decoy of waiting, collections and checkpoints: all of them come after the loop's end.
Truth: time of the loop's bookkeeping in Python, as a share of the loop.
"""
import gc
import io
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def upload(model):
    content = io.BytesIO()
    torch.save(model.state_dict(), content)
    for _ in range(10):
        time.sleep(0.12)
    return content.tell()


def main():
    torch.manual_seed(156)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(640, 1000), nn.ReLU(), nn.Linear(1000, 500), nn.ReLU(), nn.Linear(500, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    shown, losses, watch = torch.randn(9000, 640), [], Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            better, worse = shown[torch.randint(9000, (2, 96))]
            loss = nn.functional.softplus(model(worse) - model(better)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                losses.append(loss.item())
                _recent = sum(losses[-20:]) / 20
            watch.step()
    for _ in range(3):
        gc.collect()
    print(f"loss {losses[-1]:.3f}, {upload(model)} bytes")
    watch.tell()


if __name__ == "__main__":
    main()
