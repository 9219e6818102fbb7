"""A view of a trace as an object: text when printed, a table in a notebook, rows for a program."""
import ctypes
import json
import sys

from . import _native as native


class View:
    """One answer of `dwell report --view NAME`, taken when the object is made.

    A keyword argument means what the option of its name means (`dwell report --help`); a `limit`
    of None means all rows. Raises dwell.Error for an unknown name or value.
    """

    # [tools/generate view_signature] from src/output/views/view_options.def: do not edit
    def __init__(self, trace, name, *, sort=None, limit=None, group_by=None, top_level=False,
                 engine=None, skip_iteration=None, events=False, paths=None, leaves=False,
                 per_call=False, all=False, named=None, min_duration=None, merge_threads=False):
    # [tools/generate end]
        self.name = name
        # [tools/generate view_arguments] from src/output/views/view_options.def: do not edit
        options = native.view_options(sort=sort, limit=limit, group_by=group_by, top_level=top_level,
            engine=engine, skip_iteration=skip_iteration, events=events, paths=paths, leaves=leaves,
            per_call=per_call, all=all, named=named, min_duration=min_duration, merge_threads=merge_threads)
        # [tools/generate end]
        self._table = native.pointer()
        native.check(native.read().dwell_trace_view, trace, native.encoded(name),
                     ctypes.byref(options), ctypes.byref(self._table))

    @staticmethod
    def _ending(is_finalizing=sys.is_finalizing):
        # A default is there also when modules are empty already, at the interpreter's end.
        return is_finalizing()

    def __del__(self):
        if getattr(self, "_table", None) and not self._ending():
            native.read().dwell_table_destroy(self._table)
            self._table = None

    def format(self, form, width=0):
        """The table as "text", "csv", "json", "md" or "html"; text fits into `width` columns."""
        options = native.PrintOptions(format=native.encoded(form), width=width, utf8=True)
        return native.printed(native.read().dwell_table_print, ctypes.byref(self._table), 1,
                              after=(ctypes.byref(options),))

    def rows(self):
        """A dict for each row, of raw values: nanoseconds, bytes, ratios from 0 to 1."""
        table = json.loads(self.format("json"))["views"][0]
        names = [column["name"] for column in table["columns"]]
        return [dict(zip(names, row)) for row in table["rows"]]

    def __str__(self):
        return self.format("text")

    __repr__ = __str__

    def _repr_html_(self):
        return self.format("html")
