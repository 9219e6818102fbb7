#!/usr/bin/env python3
"""Programs of bench/actions: one is told which by its first argument.

    actions_python.py empty COUNT    ns of an empty action: Lightning's SimpleProfiler, dwell's
    actions_python.py calls|fib plain|cprofile|dwell COUNT    seconds of a call-heavy program, or of fib(25)
"""
import sys
import time


def cost(profiler, count):
    start = time.process_time()
    for _ in range(count):
        with profiler.profile("[LightningModule]Model.on_train_batch_start"):
            pass
    return (time.process_time() - start) / count * 1e9


def empty(count):
    import lightning.pytorch as pl
    from dwell.lightning import SimpleProfiler
    theirs, ours = pl.profilers.SimpleProfiler(), SimpleProfiler()
    ours.setup("fit")
    for profiler in (theirs, ours):
        cost(profiler, count // 10)
    print(cost(theirs, count), cost(ours, count))


def leaf(x):
    return x + 1


def middle(x):
    return leaf(x) + len(str(x))


def work(count):
    total = 0
    for i in range(count):
        total += middle(i) + abs(leaf(i))
    return total


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def calls(program, mode, count):
    if mode == "cprofile":
        import cProfile
        profile = cProfile.Profile()
        profile.enable()
    start = time.process_time()
    if program == "fib":
        fib(25)
    else:
        work(count)
    took = time.process_time() - start
    if mode == "cprofile":
        profile.disable()
    print(took)


if sys.argv[1] == "empty":
    empty(int(sys.argv[2]))
else:
    calls(sys.argv[1], sys.argv[2], int(sys.argv[3]))
