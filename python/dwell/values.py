"""What a program reports: values and moments, as a loss or an early stop, and the requests that it serves."""
from __future__ import annotations

import ctypes
import itertools
from typing import SupportsFloat

from . import _native as native

_ZONE, _COUNTER, _MARK = 0, 15, 18  # enum dwell_category
_handles = itertools.count(1 << 62)  # no address is that high

_sites = {}  # by category, name and unit: the library keeps pointers to them


class _Site(ctypes.Structure):
    _fields_ = [("name", native.text), ("detail", native.text), ("file", native.text), ("line", native.u32),
                ("category", native.u32), ("id", native.u32)]


def _site(category, name, unit):
    site = _sites.get((category, name, unit))
    if site is None:
        site = _Site(native.encoded_text(name, "name"), native.encoded(unit, "unit"), None, 0, category, 0)
        site = _sites.setdefault((category, name, unit), site)
    return ctypes.byref(site)


def counter(name: str, value: SupportsFloat, unit: str | None = None) -> None:
    """The value of a counter now: `dwell report --view counters` shows how it changes over the steps.

    `value` is a number, or has one as a tensor of one element has; reading it from a tensor on a device
    waits for the device. Does nothing while no session records.
    """
    native.record.dwell_counter(_site(_COUNTER, name, unit), float(value))


def mark(name: str) -> None:
    """Something happened now: `dwell report --view marks` shows when and how often."""
    native.record.dwell_mark(_site(_MARK, name, None))


class Request:
    """A request of a server; request() makes it. Any thread may say what becomes of it."""
    __slots__ = ("_name", "_handle")

    def __init__(self, name: str) -> None:
        self._name, self._handle = name, next(_handles)
        native.record.dwell_async_begin(_site(_ZONE, name, "request"), self._handle)

    def stage(self, name: str) -> None:
        """A stage begins here: "prefill", "decode". It ends the stage before it, and before the first one the request waits."""
        native.record.dwell_async_begin(_site(_ZONE, name, "stage"), self._handle)

    def tokens(self, count: int = 1) -> None:
        """So many tokens of the answer, or other pieces of it, have come."""
        native.record.dwell_tokens(_site(_ZONE, "tokens", "request"), self._handle, count)

    def end(self) -> None:
        """The answer is out."""
        native.record.dwell_async_end(_site(_ZONE, self._name, "request"), self._handle)

    def __enter__(self) -> Request:
        return self

    def __exit__(self, *unused: object) -> None:
        self.end()


def request(name: str = "request") -> Request:
    """A request begins here: `with dwell.request("generate") as request:`, or until request.end().

    `dwell report --view requests` shows how long requests take, to the first token and for a token, by quantile. Does
    nothing while no session records. Requests of Flask, FastAPI, aiohttp and Tornado need no such mark.
    """
    return Request(name)
