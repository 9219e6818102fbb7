"""Answers which dish fits a pantry: a service in one process that looks up, computes, and answers.

Planted: nothing. Each request has a query of a data base (with an index), a lock of a file that nobody else wants, a
thread's queue for the answer, a hash and a line of log, which take a moment.
Truth: time of all of these, of the loop.
"""
import fcntl
import hashlib
import queue
import random
import sqlite3
import tempfile
import threading

import torch
from torch import nn

from stopwatch import Stopwatch

FOODS, DISHES, WIDTH = 4000, 6000, 512


class DishNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.foods = nn.EmbeddingBag(FOODS, WIDTH, mode="mean")
        self.body = nn.Sequential(nn.Linear(WIDTH, 3072), nn.ReLU(), nn.Linear(3072, 3072), nn.ReLU(), nn.Linear(3072, DISHES))

    def forward(self, foods):
        return self.body(self.foods(foods))


def open_base():
    chance = random.Random(1)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE stock (pantry INTEGER, food INTEGER)")
    base.executemany("INSERT INTO stock VALUES (?, ?)", [(i // 12, chance.randrange(FOODS)) for i in range(48000)])
    base.execute("CREATE INDEX by_pantry ON stock (pantry)")
    return base


def main():
    torch.manual_seed(9)
    base, model, answers = open_base(), DishNet().eval(), queue.Queue(8)
    lock, log = tempfile.TemporaryFile(), tempfile.TemporaryFile("w", encoding="ascii")
    told = []

    def tell():
        for dishes in iter(answers.get, None):
            told.append(len(dishes))

    teller = threading.Thread(target=tell)
    teller.start()
    watch, number = Stopwatch(), 0
    with torch.inference_mode(), watch.loop():
        while watch.seconds() < 7:
            with watch.planted():
                asked = [number * 48 + i for i in range(48)]
                rows = base.execute("SELECT food FROM stock WHERE pantry >= ? AND pantry < ?",
                                    (asked[0] % 3900, asked[0] % 3900 + 48)).fetchall()
                foods = torch.tensor([row[0] for row in rows]).reshape(48, 12)
            best = model(foods).topk(5).indices
            with watch.planted():
                dishes = best.tolist()
                fcntl.flock(lock, fcntl.LOCK_EX)
                print(number, hashlib.sha256(repr(dishes).encode()).hexdigest(), file=log)
                fcntl.flock(lock, fcntl.LOCK_UN)
                answers.put(dishes)
            number += 1
            watch.step()
    answers.put(None)
    teller.join()
    print(f"{len(told)} answers")
    watch.tell()


if __name__ == "__main__":
    main()
