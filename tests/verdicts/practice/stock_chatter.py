"""Learns moods of messages about stocks, and logs in detail.

Planted: each step formats norms and some rows of all weights and writes them through the logging module to a file.
Truth: time of logging, as a share of the loop.
"""
import logging
import os
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(53)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(300, 500), nn.ReLU(), nn.Linear(500, 500), nn.ReLU(), nn.Linear(500, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    messages, moods, watch = torch.randn(256, 300), torch.randint(3, (256,)), Stopwatch()
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
        log = logging.getLogger("weights")
        log.setLevel(logging.DEBUG)
        log.propagate = False
        handler = logging.FileHandler(os.path.join(folder, "weights.log"))
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(funcName)s %(message)s"))
        log.addHandler(handler)
        with watch.loop():
            while watch.seconds() < 3.4:
                loss = nn.functional.cross_entropy(model(messages), moods)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                with watch.planted():
                    for name, weights in model.state_dict().items():
                        values = weights.flatten()[:400].tolist()
                        for first in range(0, len(values), 10):
                            log.debug("%s %d: %s", name, first, " ".join(f"{value:.5f}" for value in values[first: first + 10]))
                watch.step()
        handler.close()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
