"""Foretells what vending machines will sell in the next hour: a recurrent network learns from their counters, and writes what it
foretold for the newest hour into a small database, which another thread keeps in step with the machines' modems.

Planted: that thread keeps its transaction open while it waits for the modem, and the training waits until it may write.
Truth: time of writing what was foretold, of the loop.
"""
import contextlib
import os
import sqlite3
import tempfile
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

SLOTS, HOURS, BATCH = 30, 36, 24


def connect(path):
    connection = sqlite3.connect(path, isolation_level=None, timeout=30)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=OFF")
    return connection


class Modems(threading.Thread):
    """Takes what each machine has in stock into the database, over lines that are slow."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.over = path, threading.Event()

    def run(self):
        with contextlib.closing(connect(self.path)) as stock:
            machine = 0
            while not self.over.wait(0.03):
                machine = (machine + 1) % 50
                stock.execute("BEGIN IMMEDIATE")
                for slot in range(SLOTS):
                    if slot % 10 == 0:
                        time.sleep(0.01)  # the modem sends ten slots at a time
                    stock.execute("INSERT OR REPLACE INTO stock VALUES (?, ?, ?)", (machine, slot, slot % 7))
                stock.execute("COMMIT")


class Sales(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = nn.GRU(SLOTS, 112, batch_first=True)
        self.next = nn.Linear(112, SLOTS)

    def forward(self, hours):
        return nn.functional.softplus(self.next(self.count(hours)[0]))


def main():
    torch.manual_seed(50)
    torch.set_num_threads(1)
    watch, sales = Stopwatch(), Sales()
    optimizer = torch.optim.Adam(sales.parameters(), lr=2e-3, fused=True)
    wave = torch.sin(torch.arange(4000)[:, None] / 3.8 + torch.rand(SLOTS) * 6) + 1.2
    counters = torch.poisson(2 * wave)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "machines.db")
        with contextlib.closing(connect(path)) as book:
            book.execute("CREATE TABLE stock (machine, slot, bottles, PRIMARY KEY (machine, slot))")
            book.execute("CREATE TABLE foretold (step, slot, bottles)")
            modems = Modems(path)
            modems.start()
            with watch.loop():
                for step in watch.limited(range(100000), 6):
                    begin = torch.randint(len(counters) - HOURS - 1, (BATCH,)).tolist()
                    seen = torch.stack([counters[hour:hour + HOURS + 1] for hour in begin])
                    rate = sales(seen[:, :-1])
                    loss = nn.functional.poisson_nll_loss(rate, seen[:, 1:], log_input=False)
                    optimizer.zero_grad(set_to_none=True)
                    loss.backward()
                    optimizer.step()
                    if step % 2 == 0:
                        newest = list(enumerate(rate[0, -1].tolist()))
                        with watch.planted():
                            book.execute("BEGIN IMMEDIATE")
                            book.executemany(f"INSERT INTO foretold VALUES ({step}, ?, ?)", newest)
                            book.execute("COMMIT")
                    watch.step()
            modems.over.set()
            modems.join()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
