"""Forecasts the load of a grid, and keeps each step's figures in an SQLite database.

Planted: each step commits its row, and SQLite waits until the disk has it.
Truth: time of inserting and committing, as a share of the loop.
"""
import os
import sqlite3
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(208)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv1d(1, 32, 7, padding=3), nn.ReLU(), nn.Conv1d(32, 32, 7, padding=3), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 168, 24))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.003)
    load, watch = torch.rand(20_000).cumsum(0).sin(), Stopwatch()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        table = sqlite3.connect(os.path.join(folder, "runs.db"))
        table.execute("PRAGMA synchronous = EXTRA")
        table.execute("CREATE TABLE steps (number INTEGER PRIMARY KEY, loss REAL, norm REAL)")
        with watch.loop():
            while watch.seconds() < 3.2 and len(watch.marks) < 400:
                places = torch.randint(19_000, (24, 1)) + torch.arange(192)
                hours = load[places]
                loss = nn.functional.huber_loss(model(hours[:, None, :168]), hours[:, 168:])
                optimizer.zero_grad()
                loss.backward()
                norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                row = (len(watch.marks), loss.item(), norm.item())
                with watch.planted():
                    table.execute("INSERT INTO steps VALUES (?, ?, ?)", row)
                    table.commit()
                watch.step()
        best = table.execute("SELECT number, min(loss) FROM steps").fetchone()
        table.close()
    print(f"best step {best[0]}, loss {best[1]:.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
