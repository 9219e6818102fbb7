"""Values and moments that a program reports: a loss, a learning rate, an early stop."""
from __future__ import annotations

import ctypes
from typing import SupportsFloat

from . import _native as native

_COUNTER, _MARK = 15, 18  # enum dwell_category

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
