"""Measurements that another program may have disturbed: they are made again, and it is said."""
import functools
import os
import time
import unittest

DISTURBED = 0.1  # of the processors' time: so much in others' use may make a share or a duration another one
ATTEMPTS = 3


def until(holds, measure, attempts=5):
    """What `measure` returns, as soon as `holds` says yes to it; of the last attempt otherwise."""
    for _ in range(attempts):
        found = measure()
        if holds(found):
            break
    return found


class Others:
    """How much of the processors' time other programs, or a hypervisor, have since this was made. A test's own programs are those that
    it has waited for."""

    def __init__(self):
        self.before = self.read()

    @staticmethod
    def read():
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, idle, waits, *more = (int(word) / os.sysconf("SC_CLK_TCK") for word in file.readline().split()[1:9])
        return user + nice + system + sum(more), sum(os.times()[:4]), time.monotonic()

    def share(self):
        used, own, seconds = (now - before for now, before in zip(self.read(), self.before))
        return max(0, used - own) / max(seconds * os.cpu_count(), 1e-9)


def again(name, others, left):
    """Whether to measure again what failed."""
    share = others.share()
    if not left or share < DISTURBED:
        return False
    print(f"again {name}: other programs had {share:.0%} of the processors' time", flush=True)
    return True


class Checks:
    """Counts checks, and prints those that fail. A part of them that measures is made again where it fails beside other programs."""

    def __init__(self):
        self.passed, self.failures, self.holds_back = 0, [], False

    @property
    def failed(self):
        return len(self.failures)

    def check(self, what, good, *more):
        if good:
            self.passed += 1
            return
        self.failures.append(" ".join(map(str, ("FAILED", what, *more))))
        if not self.holds_back:
            print(self.failures[-1], flush=True)

    def part(self, function, *arguments):
        self.holds_back = True
        for left in reversed(range(ATTEMPTS)):
            passed, failures, others = self.passed, len(self.failures), Others()
            function(*arguments)
            if len(self.failures) == failures or not again(function.__name__, others, left):
                break
            self.passed = passed
            del self.failures[failures:]
        self.holds_back = False
        for text in self.failures[failures:]:
            print(text, flush=True)


def measures(test):
    """A test of a unittest.TestCase that is made again where it fails beside other programs."""
    @functools.wraps(test)
    def run(self, *arguments):
        for left in reversed(range(ATTEMPTS)):
            others = Others()
            try:
                return test(self, *arguments)
            except unittest.SkipTest:
                raise
            except Exception:  # what a look at too few samples fails with, too
                self.doCleanups()
                if not again(self.id(), others, left):
                    raise
                self.setUp()
        return None
    return run
