"""Learns to grade essays, and logs each sample's prediction for an audit.

Planted: the log is formatted and written line by line in each step.
Truth: time of the log's lines, as a share of the loop.
"""
import logging
import os
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(52)
    model = nn.Sequential(nn.Linear(384, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    essays, grades = torch.randn(4096, 384), torch.randint(6, (4096,))
    audit, watch = logging.getLogger("audit"), Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        handler = logging.FileHandler(os.path.join(folder, "audit.log"))
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
        audit.addHandler(handler)
        audit.setLevel(logging.INFO)
        audit.propagate = False
        with watch.loop():
            while watch.seconds() < 3:
                chosen = torch.randint(4096, (384,))
                scores = model(essays[chosen])
                loss = nn.functional.cross_entropy(scores, grades[chosen])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                with watch.planted():
                    for essay, grade in zip(chosen.tolist(), scores.argmax(1).tolist()):
                        audit.info("essay %d grade %d loss %.4f", essay, grade, loss)
                watch.step()
        handler.close()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
