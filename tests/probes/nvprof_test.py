#!/usr/bin/env python3
"""dwell.load_nvprof() against torch.autograd.profiler.load_nvprof() on generated files.

usage: nvprof_test.py BUILD

Run by a Python that has PyTorch (tools/venv torch). The last line is "N passed, N failed".
"""
import os
import random
import sqlite3
import sys
import tempfile

import built

HERE = os.path.dirname(os.path.abspath(__file__))
built.enter(os.path.abspath(sys.argv[1]))
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))

import torch.autograd.profiler

import dwell

SCHEMA = """
CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL UNIQUE);
CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, flags INT NOT NULL,
    timestamp INT NOT NULL, id INT NOT NULL, objectKind INT NOT NULL, objectId BLOB NOT NULL,
    name INT NOT NULL, domain INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, cbid INT NOT NULL,
    start INT NOT NULL, end INT NOT NULL, processId INT NOT NULL, threadId INT NOT NULL,
    correlationId INT NOT NULL, returnValue INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER PRIMARY KEY AUTOINCREMENT,
    start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL, streamId INT NOT NULL,
    correlationId INT NOT NULL, name INT NOT NULL);
"""
FIRST_NS = 1_500_000_000_000_000_000
counts = {True: 0, False: 0}


def check(what, found, wanted):
    counts[found == wanted] += 1
    if found != wanted:
        print(f"FAIL {what}: {found!r:.300} is not {wanted!r:.300}")


def make(path, seed, call=211):
    """Ranges that nest, some equal in name, with launches in and outside them."""
    chance = random.Random(seed)
    database = sqlite3.connect(path)
    database.executescript(SCHEMA)
    names = ["aten::mul, seq = 3", "_ZN2at6native4gemmEv", "forward", "aten::add", "empty"]
    database.executemany("INSERT INTO StringTable (value) VALUES (?)", [(name,) for name in names])
    state = {"now": FIRST_NS, "marker": 0, "call": 0}
    owner = bytes(12)

    def tick():
        state["now"] += chance.randrange(1, 1000)
        return state["now"]

    def launch():
        state["call"] += 1
        start, end = tick(), tick()
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (NULL, ?, ?, ?, 1, 2, ?, 0)",
                         (call, start, end, state["call"]))
        if chance.random() < 0.8:
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (NULL, ?, ?, 0, 7, ?, 2)",
                             (end, end + chance.randrange(10, 5000), state["call"]))

    def nest(depth):
        state["marker"] += 1
        number, name = state["marker"], chance.choice([1, 3, 4, 5])
        insert = "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (NULL, ?, ?, ?, 2, ?, ?, 0)"
        database.execute(insert, (2, tick(), number, owner, name))
        for _ in range(chance.randrange(4)):
            nest(depth + 1) if depth < 4 and chance.random() < 0.5 else launch()
        database.execute(insert, (4, tick(), number, owner, 0))

    for _ in range(20):
        nest(0)
        launch()
    database.commit()
    database.close()


def plain(events):
    return [(event.id, event.name, event.thread, event.time_range.start, event.time_range.end, event.count,
             sorted((kernel.name, kernel.device, kernel.duration) for kernel in event.kernels),
             event.cpu_time_total, event.device_time_total) for event in events]


def main():
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(5):
            path = os.path.join(folder, f"{seed}.nvprof")
            make(path, seed)
            found, wanted = dwell.load_nvprof(path), torch.autograd.profiler.load_nvprof(path)
            check(f"events of file {seed}", plain(found), plain(wanted))
            check(f"kernels of file {seed}", sum(len(event.kernels) for event in found) > 20, True)
            check(f"table of file {seed}", str(found), str(wanted))
        path = os.path.join(folder, "other call")
        make(path, 0, call=269)
        check("launches by another call", len(dwell.load_nvprof(path)) > 20, True)
        for name, content, wanted in (("text", b"no database", "no file of nvprof"), ("empty", b"", "no file of nvprof")):
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(content)
            try:
                dwell.load_nvprof(path)
                check(name, "read", "refused")
            except dwell.Error as error:
                check(name, wanted in str(error), True)
    print(f"{counts[True]} passed, {counts[False]} failed")
    sys.exit(bool(counts[False]))


main()
