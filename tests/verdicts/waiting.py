"""Within the step: the thread sleeps, waits for a file or a lock, runs Python or the collector.

The planted time is measured around the planted lines, in the loop's thread. The collector's time is
that of gc.callbacks.

sleep          the step waits for a service that answers late: a sleep                idle
pipe           the step reads from a pipe that another process fills late             idle, waiting-file
fsync          the step writes its loss to a file and waits until it is stored        waiting-file
lock           a thread of the program holds a lock most of the time, asleep          waiting-lock
python         Python counts words between forward and backward                       python
numpy          NumPy sorts between forward and backward: no operator of PyTorch       python
items          a metric reads single values of tensors with .item()                   synchronising-call, python
collector      many objects are alive, and each step makes more: collections          collector

Decoys: what looks alike
sleep-first    three seconds of other work, then a step that sleeps               idle, as in `sleep`
other-thread   another thread sleeps and holds its own lock; nobody waits for it
helper-waits   another thread writes and waits for files all the time
frozen         many objects are alive, but frozen; the collector finds little
one-item       one .item() for the loss in each step
collect-first  a collection of many objects before the loop
"""
import gc
import os
import subprocess
import sys
import tempfile
import threading
import time

import numpy
import torch
from torch.nn import functional

from planted import Run, Training, compute, images, wait

run = Run()
cause, ms = run.cause, run.ms()  # at the start
log = tempfile.NamedTemporaryFile("a", dir=".")
lock, stop = threading.Lock(), threading.Event()


# The other process answers late, by the number of seconds in its argument.
ANSWER_LATE = """
import os, time
while True:
    seconds = os.read(0, 8)
    if not seconds:
        break
    time.sleep(float(seconds))
    os.write(1, b"x")
"""


def hold_lock():
    """Takes the lock just before the loop needs it, and sleeps while it holds it."""
    while not stop.is_set():
        wanted.wait(0.1)
        if wanted.is_set():
            wanted.clear()
            with lock:
                held.set()
                wait(run.ms())


wanted, held = threading.Event(), threading.Event()


def wait_for_lock():
    with lock:
        return time.perf_counter()


def sleep_with_own_lock():
    own = threading.Lock()
    while not stop.is_set():
        with own:
            wait(5)


def write_files():
    with tempfile.NamedTemporaryFile("a", dir=".") as file:
        while not stop.is_set():
            file.write("line\n")
            file.flush()
            os.fsync(file.fileno())
            wait(1)


def store(milliseconds):
    """Appends to the log until the time is over, and waits each time until the disk has it."""
    end = time.perf_counter() + milliseconds / 1e3
    while time.perf_counter() < end:
        log.write("loss 0.123\n" * 20000)
        log.flush()
        os.fsync(log.fileno())
        if log.tell() > 1 << 26:
            log.truncate(0)


class CollectorClock:
    """Adds the collector's time in the loop's thread to the planted time."""

    def __init__(self):
        self.began = 0.0
        gc.callbacks.append(self)

    def __call__(self, phase, info):
        if phase == "start":
            self.began = time.perf_counter()
        else:
            run.add(time.perf_counter() - self.began)


def objects_for_collector():
    """Objects that make a full collection take about as long as the planted time of four steps."""
    gc.collect()
    gc.freeze()  # what PyTorch's import made: tens of milliseconds a collection
    kept = [[k] for k in range(100_000)]
    gc.collect()
    began = time.perf_counter()
    gc.collect()
    each = (time.perf_counter() - began) * 1e3 / len(kept)
    kept += [[k] for k in range(max(0, int(ms * 4 / each) - len(kept)))]
    gc.collect()
    return kept


def main():
    training, batches = Training(), [images() for _ in range(8)]
    model, optimizer = training.model, training.optimizer
    kept, thread, filler = None, None, None
    targets = {"lock": hold_lock, "other-thread": sleep_with_own_lock, "helper-waits": write_files}
    if cause in targets and (ms or cause != "lock"):
        thread = threading.Thread(target=targets[cause], daemon=True)
        thread.start()
    if cause == "sleep-first":
        compute(3000)
    if cause == "pipe" and ms:
        filler = subprocess.Popen([sys.executable, "-S", "-c", ANSWER_LATE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  bufsize=0)
    if cause in ("collector", "frozen") and ms:
        kept = objects_for_collector()
        if cause == "frozen":
            gc.freeze()
    if cause == "collect-first":
        kept = [[k] for k in range(1_500_000)]
        gc.collect()
        kept = None
    CollectorClock()
    values, rows = torch.randn(64), numpy.random.default_rng(0).random((64, 1024))

    for number in run.steps():
        x, y = batches[number % 8]
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        if cause in ("collector", "frozen") and ms and number % 4 == 3:
            gc.collect()
        elif cause == "lock" and ms:
            held.clear()
            wanted.set()
            held.wait()  # the other thread has the lock now
            with run.planting():
                wait_for_lock()
        elif cause not in ("collector", "frozen"):
            with run.planting():
                plant(values, rows, filler)
        if cause == "one-item":
            loss.item()
        loss.backward()
        optimizer.step()

    stop.set()
    if filler:
        filler.stdin.close()
        filler.wait()
    if thread:
        thread.join()
    run.close()
    return kept


def plant(values, rows, filler):
    if cause in ("sleep", "sleep-first"):
        wait(run.ms())
    elif cause == "pipe" and filler:
        filler.stdin.write(b"%8.5f" % (run.ms() / 1e3))
        filler.stdout.read(1)
    elif cause == "fsync":
        store(run.ms())
    elif cause == "python":
        compute(run.ms())
    elif cause in ("numpy", "items"):
        end = time.perf_counter() + run.ms() / 1e3
        while time.perf_counter() < end:
            if cause == "numpy":
                numpy.sort(rows, axis=1)
            else:
                sum(value.item() for value in values)


main()
