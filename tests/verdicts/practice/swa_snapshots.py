"""Averages the weights of a forecast of river levels over snapshots.

Planted: every third step writes the average and the model to a file.
Truth: time of writing, as a share of the loop.
"""
import os
import tempfile

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

from stopwatch import Stopwatch


def main():
    torch.manual_seed(113)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(365, 1000), nn.SiLU(), nn.Linear(1000, 1000), nn.SiLU(), nn.Linear(1000, 30))
    averaged = AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    levels, watch = torch.randn(5000, 395).cumsum(1) / 20, Stopwatch()
    with tempfile.TemporaryDirectory() as folder, watch.loop():
        while watch.seconds() < 3.2:
            years = levels[torch.randint(5000, (64,))]
            loss = nn.functional.smooth_l1_loss(model(years[:, :365]), years[:, 365:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if len(watch.marks) % 3 == 2:
                averaged.update_parameters(model)
                with watch.planted():
                    path = os.path.join(folder, f"snapshot-{len(watch.marks) % 3}.pt")
                    torch.save({"average": averaged.state_dict(), "model": model.state_dict()}, path + ".new")
                    os.replace(path + ".new", path)
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
