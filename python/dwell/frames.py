"""A trace as data frames: views, SQL, and the rows of its events.

    import dwell

    with dwell.open("train.dwell") as trace:
        trace.view("operators")                                       # a pyarrow.Table
        trace.query("select step, duration_ns from steps", to="pandas")
        trace.table("ranges", to="polars")
        trace.to_parquet("train")                                     # train/ranges.parquet, train/steps.parquet, ...

C fills columns in memory, by Arrow's C data interface; pyarrow takes them without a copy. `pip install pyarrow`, and what `to` names.
"""
from __future__ import annotations

import ctypes
import json
import os
import sys
import warnings
from typing import Any, Callable, Literal

from . import _native as native

To = Literal["arrow", "pandas", "polars"]
_SECONDS = 5  # as `dwell query`
_GROUP_BYTES = 64 << 20  # of rows that a Parquet file has in one group: they are in memory until it is written


class _Schema(ctypes.Structure):
    """A struct ArrowSchema, whose members pyarrow reads."""
    _fields_ = [("members", native.u64 * 9)]


class _Array(ctypes.Structure):
    """A struct ArrowArray."""
    _fields_ = [("members", native.u64 * 10)]


def _library(name, what):
    """A library of Python, or an error that says how to get it."""
    try:
        return __import__(name)
    except ImportError as error:
        raise ImportError(f"{what} needs {name}, which this Python ({sys.executable}) cannot import ({error}): "
                          f"{sys.executable} -m pip install {name}") from None


def _converted(table, to):
    """A pyarrow.Table as what was asked for. Columns of pandas remain Arrow's: numbers without a value stay whole."""
    if to == "arrow":
        return table
    if to == "pandas":
        return table.to_pandas(types_mapper=_library("pandas", "to='pandas'").ArrowDtype)
    if to == "polars":
        return _library("polars", "to='polars'").from_arrow(table)
    raise ValueError(f"to={to!r}: give 'arrow', 'pandas' or 'polars'")


class _File:
    """A Parquet file, under another name until it is complete."""

    def __init__(self, arrow, path, schema):
        from pyarrow import parquet
        self.path, self.temporary = path, f"{path}.{os.getpid()}"
        self._arrow, self._batches, self._bytes = arrow, [], 0
        # Times and numbers differ little from row to row. Of texts nobody needs the smallest one, which takes long to find. Without
        # Arrow's schema a reader gets texts, not what they are in memory here.
        numbers = [field.name for field in schema if arrow.types.is_integer(field.type)]
        texts = [field.name for field in schema if arrow.types.is_string(field.type) or arrow.types.is_dictionary(field.type)]
        self._writer = parquet.ParquetWriter(
            self.temporary, schema, use_dictionary=texts, column_encoding={name: "DELTA_BINARY_PACKED" for name in numbers}, store_schema=False,
            compression={field.name: "none" if field.name in numbers else "snappy" for field in schema},
            write_statistics=[field.name for field in schema if field.name not in texts])

    def add(self, batch):
        self._batches.append(batch)
        self._bytes += batch.nbytes
        if self._bytes >= _GROUP_BYTES:
            self._write()

    def _write(self):
        if self._batches:
            self._writer.write_table(self._arrow.Table.from_batches(self._batches).unify_dictionaries())
        self._batches, self._bytes = [], 0

    def complete(self):
        self._write()
        self._writer.close()

    def close(self):
        """Removes what is not complete."""
        self._batches = []
        if os.path.exists(self.temporary):
            os.unlink(self.temporary)


class Frames:
    """A trace that dwell.open() has opened. Frames remain valid when it is closed."""

    def __init__(self, path: str | os.PathLike[str], scope: native.Scope) -> None:
        self._arrow = _library("pyarrow", "dwell.open()")
        self.path = os.fspath(path)
        self._trace = native.open_trace(path, scope)

    def __enter__(self) -> "Frames":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"dwell.open({self.path!r})"

    def close(self) -> None:
        """Frees what is read of the trace."""
        self._trace.close()

    def views(self) -> dict[str, str]:
        """The names of the views, each with the question that it answers."""
        found: dict[str, str] = {}
        question = native.text()
        while name := native.read().dwell_view_name(len(found), ctypes.byref(question)):
            found[name.decode()] = (question.value or b"").decode()
        return found

    def view(self, name: str, to: To = "arrow", **options: Any) -> Any:
        """The rows of a view; of one with several tables, its first. Options are those of dwell.View.

        Values are raw: nanoseconds, bytes, ratios from 0 to 1. Raises dwell.Error for an unknown name, and for a view
        of what was not recorded, with what to record."""
        return self._frame(self._trace.view(name, native.view_options(**options)), to)

    def summary(self) -> dict[str, Any]:
        """What `dwell report --summary --format json` prints: verdicts with their evidence, parts of a step, facts."""
        return json.loads(self._trace.printed(native.read().dwell_trace_summary, b"json"))

    def query(self, sql: str, to: To = "arrow", seconds: float | None = _SECONDS) -> Any:
        """The answer to one statement of SQLite, as of `dwell query`; ".schema" lists tables and columns.

        It ends with dwell.Error after `seconds` (None: never), or when it needs more than 200 MB. Warns if the
        answer has only the first 1,000,000 rows: table() has all."""
        address = native.pointer()
        most_ms = 0 if seconds is None else max(1, round(seconds * 1000))
        self._trace.call(native.read().dwell_trace_query, native.encoded_text(sql, "sql"), most_ms, ctypes.byref(address),
                         note=lambda note: warnings.warn(note, stacklevel=5))
        return self._frame(native.Table(address), to)

    def table(self, name: str, to: To = "arrow") -> Any:
        """All rows of a table: `ranges`, `marks`, `counters`, `allocations`, `flows`, `async_ranges`, `steps`, `samples`,
        `device_events`, `threads`, `processes`, `metadata`, `losses` or `run`."""
        batches: list[Any] = []
        self._rows(native.encoded_text(name, "name"), lambda table, batch: batches.append(batch))
        return _converted(self._arrow.Table.from_batches(batches), to)

    def to_parquet(self, folder: str | os.PathLike[str]) -> list[str]:
        """Writes FOLDER/TABLE.parquet for each table, in bounded memory and one walk. Returns the paths.

        Files of these names are replaced when all are complete; if that fails, they remain as they were."""
        os.makedirs(folder, exist_ok=True)
        files: dict[str, _File] = {}

        def put(table, batch):
            if table not in files:
                files[table] = _File(self._arrow, os.path.join(folder, f"{table}.parquet"), batch.schema)
            files[table].add(batch)

        try:
            self._rows(None, put, dictionaries=True)
            for file in files.values():
                file.complete()
            for file in files.values():
                os.replace(file.temporary, file.path)
        finally:
            for file in files.values():
                file.close()
        return [file.path for file in files.values()]

    def _rows(self, name: bytes | None, put: Callable[[str, Any], None], dictionaries: bool = False) -> None:
        """Calls `put` with the name of a table and some of its rows."""
        failed: list[BaseException] = []

        def each(table, schema, array, context):
            try:
                put(table.decode(), self._arrow.RecordBatch._import_from_c(array, schema))
            except BaseException as error:  # it passes C, which knows no exceptions
                failed.append(error)
            return len(failed)

        self._trace.call(native.read().dwell_trace_columns, name, dictionaries, native.EACH_ROWS(each), None)
        if failed:
            raise failed[0]

    def _frame(self, table: native.Table, to: To) -> Any:
        schema, array = _Schema(), _Array()
        native.check(native.read().dwell_table_columns, table, ctypes.byref(schema), ctypes.byref(array))
        batch = self._arrow.RecordBatch._import_from_c(ctypes.addressof(array), ctypes.addressof(schema))
        return _converted(self._arrow.Table.from_batches([batch]), to)


def open(path: str | os.PathLike[str], *, steps: tuple[int, int] | None = None, thread: str | None = None,
         profile: str | None = None, action: str | None = None) -> Frames:
    """Opens a trace for views as frames, SQL, rows and Parquet files; `with` closes it.

    `steps` are the first and the last one, counted from 0; `thread`, `profile` and `action` mean what the options of
    `dwell report` mean. Raises dwell.Error if there is no trace at the path, or nothing in this scope."""
    scope = {"thread": thread, "profile": profile, "action": action}
    fields: dict[str, Any] = {name: native.encoded_text(value, name) for name, value in scope.items() if value is not None}
    if steps is not None:
        first, last = steps
        fields.update(has_steps=True, steps_from=native.whole(first, "steps"), steps_to=native.whole(last, "steps"))
    return Frames(path, native.Scope(**fields))


def main(arguments: list[str]) -> int:
    """What `dwell export --format parquet` starts: TRACE FOLDER [FIELD=VALUE...] of the scope."""
    path, folder, *rest = arguments
    fields: dict[str, Any] = {}
    for name, value in (field.split("=", 1) for field in rest):
        fields[name] = int(value) if name.endswith(("_from", "_to", "_ns")) else native.encoded(value)
    scope = native.Scope(has_steps="steps_from" in fields, has_time="from_ns" in fields, **fields)
    try:
        with Frames(path, scope) as trace:
            trace.to_parquet(folder)
    except KeyboardInterrupt:
        return 130
    except (native.Error, ImportError, OSError) as error:
        print(f"dwell: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
