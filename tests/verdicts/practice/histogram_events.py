"""Tells fabrics apart, and wants a histogram of every gradient.

Planted: each step writes a histogram of each gradient as a line of JSON, and flushes the file.
Truth: time of computing and writing histograms, as a share of the loop.
"""
import json

import torch
from torch import nn

from stopwatch import Stopwatch


def write(file, step, model):
    for name, each in model.named_parameters():
        counts, edges = [0] * 30, each.grad.abs().max().item() + 1e-12
        for value in each.grad.flatten()[:1800].tolist():
            counts[int(14.9 * (1 + value / edges))] += 1
        file.write(json.dumps({"step": step, "name": name, "counts": counts, "limit": edges, "first": each.grad.flatten()[:100].tolist()}) + "\n")
        file.flush()


def main():
    torch.manual_seed(47)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(400, 600), nn.ReLU(), nn.Linear(600, 400), nn.ReLU(), nn.Linear(400, 200), nn.ReLU(), nn.Linear(200, 9))
    optimizer, watch = torch.optim.SGD(model.parameters(), lr=0.01), Stopwatch()
    threads, kinds = torch.rand(256, 400), torch.randint(9, (256,))
    with watch.loop(), open("events.jsonl", "w", encoding="utf-8") as file:
        while watch.seconds() < 5:
            loss = nn.functional.cross_entropy(model(threads), kinds)
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                write(file, len(watch.marks), model)
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
