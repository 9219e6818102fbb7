"""load_nvprof(): the ranges of an nvprof file as torch.autograd.profiler.load_nvprof gives them.

The result is PyTorch's own EventList, so that scripts which print or sum it need no change. Times
have the unit of the file, nanoseconds, as with PyTorch. What differs: the work is proportional to
the number of launches and their nesting, where PyTorch compares each range with each call; and
launches by other calls than cudaLaunchKernel() are taken, where PyTorch stops with an assertion.
`dwell report FILE` shows the same file in dwell's views and needs no PyTorch.
"""
from __future__ import annotations

import bisect
import os
import pathlib
import sqlite3
from typing import Any

from . import _native as native

_NOT_TRACE = -4  # DWELL_E_NOT_TRACE
_MARKERS = """
SELECT first.id, first.name, first.timestamp, last.timestamp
FROM CUPTI_ACTIVITY_KIND_MARKER AS first JOIN CUPTI_ACTIVITY_KIND_MARKER AS last ON first.id = last.id
WHERE first.name != 0 AND last.name = 0"""
_LAUNCHES = """
SELECT runtime.start, runtime.end, kernel.name, kernel.end - kernel.start
FROM CUPTI_ACTIVITY_KIND_RUNTIME AS runtime
JOIN CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL AS kernel ON kernel.correlationId = runtime.correlationId
ORDER BY runtime.start"""


def _read(path):
    """Texts by id, ranges, and launches in the order of their starts."""
    if not pathlib.Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file")
    database = sqlite3.connect(f"{pathlib.Path(path).resolve().as_uri()}?mode=ro", uri=True)
    try:
        texts = dict(database.execute("SELECT _id_, value FROM StringTable"))
        ranges = database.execute(_MARKERS).fetchall()
        launches = database.execute(_LAUNCHES).fetchall()
    except sqlite3.DatabaseError as error:
        raise native.Error(_NOT_TRACE, f"{path} is no file of nvprof: {error}; record one with "
                           "nvprof -o FILE") from None
    finally:
        database.close()
    if len({one[0] for one in ranges}) < len(ranges):
        raise native.Error(_NOT_TRACE, f"{path}: two ranges have one id")
    return texts, ranges, launches


def load_nvprof(path: str | os.PathLike[str]) -> Any:
    import torch
    from torch.autograd.profiler_util import EventList, FunctionEvent

    texts, ranges, launches = _read(path)
    starts = [launch[0] for launch in launches]
    events = []
    for number, name, start, end in ranges:
        event = FunctionEvent(id=number, node_id=0, name=torch._C._demangle(texts[name]), thread=0,
                              start_us=start, end_us=end)
        for at in range(bisect.bisect_right(starts, start), len(launches)):
            call_start, call_end, kernel, duration = launches[at]
            if call_start >= end:
                break
            if call_end < end:
                event.append_kernel(kernel, 0, duration)
        events.append(event)
    events.sort(key=lambda event: event.time_range.start)
    return EventList(events)
