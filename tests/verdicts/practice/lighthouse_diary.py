"""Predicts the weather at a lighthouse; a dashboard reads the history of losses.

Planted: after each step the whole history is written to a JSON file again, so each step writes more.
Truth: time of writing the history, as a share of the loop.
"""
import json
import os

import torch
from torch import nn

from stopwatch import Stopwatch


def write_history(history):
    with open("history.json.new", "w", encoding="utf-8") as file:
        json.dump(history, file)
    os.replace("history.json.new", "history.json")


def main():
    torch.manual_seed(3)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(256, 1024), nn.Tanh(), nn.Linear(1024, 1024), nn.Tanh(), nn.Linear(1024, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    weather, history = torch.randn(4096, 256), []
    with watch.loop():
        for number in range(100000):
            batch = weather[number * 64 % 4096:][:64]
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(batch), batch[:, :8])
            loss.backward()
            optimizer.step()
            with watch.planted():
                history.append({"step": number, "loss": loss.item(), "lr": 1e-4, "weights": [w.norm().item() for w in model.parameters()]})
                write_history(history)
            watch.step()
            if watch.seconds() > 6:
                break
    watch.tell()


if __name__ == "__main__":
    main()
