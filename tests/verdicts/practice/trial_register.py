"""Models the dose of a trial, of which every step must be registered.

Planted: each step commits twice to SQLite, which waits until the disk has the rows.
Truth: time of registering, as a share of the loop.
"""
import os
import sqlite3
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(23)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(64, 600), nn.ReLU(), nn.Linear(600, 600), nn.ReLU(), nn.Linear(600, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    doses, effects = torch.randn(250, 64), torch.randn(250)
    watch = Stopwatch()
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
        register = sqlite3.connect(os.path.join(folder, "register.db"))
        register.execute("PRAGMA synchronous=FULL")
        register.execute("CREATE TABLE steps (number INTEGER, loss REAL)")
        register.execute("CREATE TABLE state (steps INTEGER)")
        register.execute("INSERT INTO state VALUES (0)")
        register.commit()
        with watch.loop():
            while watch.seconds() < 3.4:
                loss = nn.functional.mse_loss(model(doses).squeeze(1), effects)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                with watch.planted():
                    register.execute("INSERT INTO steps VALUES (?, ?)", (len(watch.marks), loss.item()))
                    register.commit()
                    register.execute("UPDATE state SET steps = steps + 1")
                    register.commit()
                watch.step()
        register.close()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
