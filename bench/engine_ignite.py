"""The loop of engine.c on Ignite's own engine: prints its iterations a second.

usage: engine_ignite.py plain|ignite|dwell ITERATIONS

`ignite` and `dwell`: with the one's or the other's HandlersTimeProfiler attached.
"""
import sys
import time

from ignite.engine import Engine, Events


class Numbers:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __iter__(self):
        return iter(range(self.count))


def main():
    mode, iterations = sys.argv[1], int(sys.argv[2])
    engine = Engine(lambda engine, batch: None)
    for _ in range(8):
        engine.add_event_handler(Events.ITERATION_COMPLETED, lambda engine: None)
    if mode == "ignite":
        from ignite.handlers import HandlersTimeProfiler
    elif mode == "dwell":
        from dwell.ignite import HandlersTimeProfiler
    if mode != "plain":
        HandlersTimeProfiler().attach(engine)
    start = time.perf_counter()
    engine.run(Numbers(iterations), max_epochs=1)
    print("%.0f iterations/s" % (iterations / (time.perf_counter() - start)))


main()
