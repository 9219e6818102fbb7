"""The clock with which each script of this folder measures what is planted in it, and its TRUTH line."""
import contextlib
import json
import resource
import statistics
import time


def system_time():
    """Of this thread: what the kernel did for it, page faults above all."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_stime


class Stopwatch:
    def __init__(self):
        self.began = self.ended = None
        self.planted_s = self.system_s = 0.0
        self.marks = []

    @contextlib.contextmanager
    def loop(self):
        """The training loop: everything from its first iteration to its end."""
        before, self.began = system_time(), time.perf_counter()
        yield
        self.ended = time.perf_counter()
        self.system_s = system_time() - before

    @contextlib.contextmanager
    def planted(self):
        """Time that the planted cause takes; in a script without one, what comes nearest to a cause."""
        began = time.perf_counter()
        yield
        self.planted_s += time.perf_counter() - began

    def batches(self, loader):
        """The loader's batches; the time that the loop waits for them is the planted one."""
        with self.planted():
            iterator = iter(loader)
        while True:
            with self.planted():
                batch = next(iterator, None)
            if batch is None:
                return
            yield batch

    def step(self):
        """At the end of each training step."""
        self.marks.append(time.perf_counter())

    def limited(self, items, seconds):
        """The items, until the loop is that old: a slow machine makes fewer steps."""
        for item in items:
            yield item
            if self.seconds() > seconds:
                return

    def seconds(self):
        """Since the loop began; 0 before."""
        return time.perf_counter() - self.began if self.began else 0.0

    def step_times(self):
        return [later - earlier for earlier, later in zip([self.began, *self.marks], self.marks)]

    def tell(self, share=None, **more):
        """Prints the truth. `share`: of the loop, unless planted() measured it."""
        loop_s = self.ended - self.began
        share = self.planted_s / loop_s if share is None else share
        truth = {"share": round(share, 4), "system_share": round(self.system_s / loop_s, 4),
                 "loop_s": round(loop_s, 2), "steps": len(self.marks), "step_ms": round(1e3 * statistics.median(self.step_times()), 2), **more}
        print("TRUTH " + json.dumps(truth), flush=True)
