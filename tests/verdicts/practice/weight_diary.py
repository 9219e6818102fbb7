"""Trains a network on prices of electricity, and writes a diary of its weights.

Planted: each step writes a histogram of each layer to a file of JSON lines through logging.
Truth: time of making and writing the histograms, as a share of the loop.
"""
import json
import logging
import os
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch

diary = logging.getLogger("diary")


def write_weights(model, number):
    for name, weight in model.named_parameters():
        values = weight.detach().flatten()[:1500].tolist()
        diary.info("%s", json.dumps({"step": number, "name": name, "values": values}))


def main():
    torch.manual_seed(123)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(336, 800), nn.ReLU(), nn.Linear(800, 800), nn.ReLU(), nn.Linear(800, 24))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    prices, watch = torch.randn(6000, 360), Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        diary.addHandler(logging.FileHandler(os.path.join(folder, "weights.jsonl")))
        diary.setLevel(logging.INFO)
        with watch.loop():
            while watch.seconds() < 3.2:
                weeks = prices[torch.randint(6000, (192,))]
                loss = nn.functional.mse_loss(model(weeks[:, :336]), weeks[:, 336:])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                with watch.planted():
                    write_weights(model, len(watch.marks))
                watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
