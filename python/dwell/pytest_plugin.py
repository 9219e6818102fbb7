"""The fixture `dwell` for pytest: steps of a test have a budget of time.

    def test_training(dwell):
        with dwell.steps(budget="5 ms") as steps:
            for batch in steps(batches):
                train(batch)

The test fails if its median step takes longer. It needs no `dwell run`; under it, the trace has these steps.
"""
from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

PARTS, LEAST = 5, 10  # parts of the run that must agree; steps
UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}


def _nanoseconds(budget):
    found = re.fullmatch(r"\s*([0-9.]+)\s*(ns|us|µs|ms|s)\s*", budget) if isinstance(budget, str) else None
    try:
        return float(found[1]) * UNITS[found[2]]
    except (TypeError, ValueError):
        raise ValueError(f"dwell: the budget is {budget!r}: give a time with its unit, as '5 ms'") from None


def _words(ns):
    unit = next(unit for unit in ("s", "ms", "us", "ns") if ns >= UNITS[unit] or unit == "ns")
    return f"{ns / UNITS[unit]:.3g} {unit}"


def _median(times):
    ordered, middle = sorted(times), len(times) // 2
    return ordered[middle] if len(times) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _marks():
    """What begins and ends a step in the trace of `dwell run`; outside it, what does nothing."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            is_there = any("/libdwell.so." in line for line in maps)
    except OSError:
        is_there = False
    if is_there:
        from . import _native, profiler
        if _native.record.dwell_active():
            return profiler.begin_step, profiler.end_step
    return (lambda: None,) * 2


class _Waits:
    """For how long this thread was ready to run and other programs had the CPUs, as the kernel counts."""

    def __enter__(self):
        try:
            self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._file = None
        return self

    def __exit__(self, *exception):
        if self._file is not None:
            os.close(self._file)

    def ns(self):
        return int(os.pread(self._file, 100, 0).split()[1]) if self._file is not None else 0


class Steps:
    """The steps of a test. Called with an iterable, it yields its items: a step makes one item and runs the loop's body with it."""

    def __init__(self, budget: str, note: Callable[[str, float], None]) -> None:
        self.budget_ns, self.times, self._note = _nanoseconds(budget), [], note

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is None:
            why = self.judge()
            if why:
                pytest.fail(why, pytrace=False)

    def __call__(self, items: Iterable[Any]) -> Iterator[Any]:
        begin, end = _marks()
        iterator = iter(items)
        with _Waits() as waits:
            while True:
                begin()
                try:
                    waited, began = waits.ns(), time.perf_counter_ns()
                    try:
                        item = next(iterator)
                    except StopIteration:
                        return
                    yield item
                    took = time.perf_counter_ns() - began
                    self.times.append(took - (waits.ns() - waited))
                finally:
                    end()

    @property
    def median_ns(self) -> float:
        """Of the steps so far, without what they waited for a CPU."""
        return _median(self.times)

    def judge(self) -> str | None:
        """Why the steps are over the budget, or None.

        What varies in a run, other programs and the speed of the processor, comes in phases: where the median is over the
        budget because of them, it is not in every part of the run.
        """
        count = len(self.times)
        if count < LEAST:
            raise ValueError(f"dwell: {count} steps are too few to be judged: at least {LEAST}")
        self._note("dwell_median_ns", self.median_ns)
        self._note("dwell_budget_ns", self.budget_ns)
        least = min(_median(self.times[count * part // PARTS:count * (part + 1) // PARTS]) for part in range(PARTS))
        if least <= self.budget_ns:
            return None
        return (f"dwell: the median of {count} steps took {_words(self.median_ns)} without waits for a CPU, "
                f"{self.median_ns / self.budget_ns - 1:.0%} over the budget of {_words(self.budget_ns)}, "
                f"and {_words(least)} in the fastest fifth of the run")


class Budget:
    """What a test gets as `dwell`."""

    def __init__(self, node: Any) -> None:
        self._node = node

    def _note(self, name, value):
        """For reports as JUnit's."""
        self._node.user_properties.append((name, round(value)))

    def steps(self, budget: str) -> Steps:
        """For `with`: steps whose median may take as long as the budget says, as "5 ms"."""
        return Steps(budget, self._note)

    def run(self, function: Callable[..., Any], *arguments: Any, budget: str, times: int = 50) -> Any:
        """Calls the function so often; each call is a step. Returns what the last call did."""
        result = None
        with self.steps(budget) as steps:
            for _ in steps(range(times)):
                result = function(*arguments)
        return result


@pytest.fixture
def dwell(request: pytest.FixtureRequest) -> Budget:
    """Steps of the test have a budget of time: dwell.steps(budget="5 ms"), dwell.run(function, budget="5 ms")."""
    return Budget(request.node)
