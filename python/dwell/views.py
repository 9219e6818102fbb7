"""A view of a trace as an object: text when printed, a table in a notebook, rows for a program."""
from __future__ import annotations

import json
from typing import Any, Literal

from . import _native as native


class View:
    """One answer of `dwell report --view NAME`, taken when the object is made.

    `trace` is the path of a trace, or a profile's `trace`. A keyword argument means what the option of its name means (`dwell report --help`); a `limit`
    of None means all rows. Raises dwell.Error for an unknown name or value.
    """

    # [tools/generate view_signature] from src/output/views/view_options.def: do not edit
    def __init__(self, trace: Any, name: str, *, sort: str | None = None, limit: int | None = None,
                 group_by: str | None = None, top_level: bool = False, engine: str | None = None,
                 skip_iteration: int | None = None, events: bool = False, paths: str | None = None,
                 leaves: bool = False, per_call: bool = False, all: bool = False,
                 named: str | None = None, min_duration: str | None = None, merge_threads: bool = False,
                 ranges: str | None = None) -> None:
    # [tools/generate end]
        self.name = name
        # [tools/generate view_arguments] from src/output/views/view_options.def: do not edit
        options = native.view_options(sort=sort, limit=limit, group_by=group_by, top_level=top_level,
            engine=engine, skip_iteration=skip_iteration, events=events, paths=paths, leaves=leaves,
            per_call=per_call, all=all, named=named, min_duration=min_duration, merge_threads=merge_threads,
            ranges=ranges)
        # [tools/generate end]
        self._table = native.trace_of(trace).view(name, options)

    def format(self, form: Literal["text", "csv", "json", "md", "html"], width: int = 0) -> str:
        """The table as "text", "csv", "json", "md" or "html"; text fits into `width` columns."""
        return self._table.text(form, width)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each row, of raw values: nanoseconds, bytes, ratios from 0 to 1."""
        table = json.loads(self.format("json"))["views"][0]
        names = [column["name"] for column in table["columns"]]
        return [dict(zip(names, row)) for row in table["rows"]]

    def __str__(self) -> str:
        return self.format("text")

    __repr__ = __str__

    def _repr_html_(self):
        return self.format("html")
