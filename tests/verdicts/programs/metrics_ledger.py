"""Trains a churn model, and keeps an audit ledger of each prediction.

Planted: after each step the ledger is appended to and synchronised with the disk.
Truth: time of the write and the fsync, as a share of the loop.
"""
import os
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch


class Ledger:
    def __init__(self, folder):
        self.fd = os.open(os.path.join(folder, "ledger.bin"), os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def append(self, scores):
        os.write(self.fd, scores.numpy().tobytes())
        os.fsync(self.fd)

    def close(self):
        os.close(self.fd)


def main():
    torch.manual_seed(6)
    torch.set_num_threads(1)
    customers = torch.randn(20_000, 64)
    churned = (customers[:, :3].sum(1) > 0.5).float()
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    watch = Stopwatch()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        ledger = Ledger(folder)
        with watch.loop():
            while watch.seconds() < 8:
                chosen = torch.randint(len(customers), (1024,))
                scores = model(customers[chosen]).squeeze(1)
                loss = nn.functional.binary_cross_entropy_with_logits(scores, churned[chosen])
                optimizer.zero_grad()
                loss.backward()
                with watch.planted():
                    ledger.append(scores.detach())
                optimizer.step()
                watch.step()
        ledger.close()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
