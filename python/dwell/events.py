"""Results as torch.profiler gives them: FunctionEvent, FunctionEventAvg, EventList.

Tables and sums are C's (one pass over the trace); objects are made of them when asked for.
Times are microseconds, memory bytes.
"""
from __future__ import annotations

import enum
import json
import os
import re
import sys
from collections.abc import Iterable
from typing import Any, TypeVar

from . import _native as native
from .views import View

(_RANGE, _MARK, _COUNTER, _ALLOC, _FREE, _ASYNC, _OUT, _IN, _STEP) = range(9)
_ZONE, _OPERATOR = 0, 2
_FUNCTION_SCOPE, _BACKWARD_SCOPE, _USER_SCOPE = 0, 1, 7  # PyTorch's RecordScope
_BACKWARD = re.compile(r"(?!autograd::engine).*(Backward\d*|AccumulateGrad|GraphRoot)")
_EVALUATES = "autograd::engine::evaluate_function: "
_SHOWN = {_ZONE, _OPERATOR}
_DTYPES = {0: "unsigned char", 1: "signed char", 2: "short", 3: "int", 4: "long int", 5: "c10::Half",
           6: "float", 7: "double", 8: "c10::complex<c10::Half>", 9: "c10::complex<float>",
           10: "c10::complex<double>", 11: "bool", 15: "c10::BFloat16",
           248: "ScalarList", 249: "Scalar", 250: "Scalar", 254: "ScalarList"}
_BOOLS, _BOOL, _INT, _INTS = 248, 249, 250, 254
_VALUES = {_BOOLS: lambda values: [bool(value) for value in values], _BOOL: lambda values: any(values),
           _INT: lambda values: sum(values[:1]), _INTS: list}  # of arguments that are no tensors, as Python has them


def _time_text(us):
    """As torch writes it: in the unit that fits."""
    for limit, unit in ((1e6, "s"), (1e3, "ms")):
        if us >= limit:
            return f"{us / limit:.3f}{unit}"
    return f"{us:.3f}us"


class DeviceType(enum.Enum):
    """PyTorch's, for a process without it."""
    CPU = 0
    CUDA = 1

    def __str__(self):
        return f"DeviceType.{self.name}"


def _cpu():
    return getattr(getattr(sys.modules.get("torch"), "autograd", None), "DeviceType", DeviceType).CPU


class Interval:
    """A stretch of time, microseconds since the run's start."""

    start: float
    end: float

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        return self.end - self.start

    def __repr__(self):
        return f"<Interval {self.start:.3f}..{self.end:.3f} us>"


class _Times:
    """What both kinds of events derive from their sums."""

    # Of single calls, and where no device is recorded.
    device_time = device_time_total = self_device_time_total = 0.0
    self_device_memory_usage = 0
    use_device: str | None = None
    device_index = device_resource_id = 0
    is_legacy = False
    is_remote = False
    node_id = -1
    # Of the sums in a table, which takes them from the trace.
    self_cpu_percent = total_cpu_percent = total_device_percent = -1

    @property
    def cpu_time_str(self) -> str:
        return _time_text(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        return _time_text(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        return _time_text(self.self_cpu_time_total)

    @property
    def device_time_str(self) -> str:
        return _time_text(self.device_time)

    @property
    def device_time_total_str(self) -> str:
        return _time_text(self.device_time_total)

    @property
    def self_device_time_total_str(self) -> str:
        return _time_text(self.self_device_time_total)

    @property
    def cuda_time_str(self) -> str:
        return self.device_time_str

    @property
    def cuda_time_total_str(self) -> str:
        return self.device_time_total_str

    @property
    def self_cuda_time_total_str(self) -> str:
        return self.self_device_time_total_str

    @property
    def cuda_time(self) -> float:
        return self.device_time

    @property
    def cuda_time_total(self) -> float:
        return self.device_time_total

    @property
    def self_cuda_time_total(self) -> float:
        return self.self_device_time_total

    @property
    def cuda_memory_usage(self) -> int:
        return self.device_memory_usage

    @property
    def self_cuda_memory_usage(self) -> int:
        return self.self_device_memory_usage

    @property
    def device_type(self) -> Any:
        return _cpu()


def _scope(name, is_operator):
    if not is_operator:
        return _USER_SCOPE
    return _BACKWARD_SCOPE if _BACKWARD.fullmatch(name) else _FUNCTION_SCOPE


class FunctionEvent(_Times):
    """One call: an operator, a named range, or a step ("ProfilerStep#N")."""

    id: int
    name: str
    trace_name: str
    overload_name: str
    thread: int
    pid: int
    fwd_thread: int
    time_range: Interval
    sequence_nr: int
    input_shapes: list[list[int]]
    input_dtypes: list[str]
    concrete_inputs: list[Any]
    kwinputs: dict[str, Any]
    stack: list[str]
    scope: int
    category: int
    is_user_annotation: bool
    is_async: bool
    metadata_json: str
    count: int
    kernels: list[Any]
    flops: int
    activity_type: str
    external_id: int
    linked_correlation_id: int
    flow_id: int
    flow_type: int
    flow_start: bool
    is_python_function: bool
    python_id: int
    python_parent_id: int
    python_module_id: int
    structured_input_shapes: list[Any]
    structured_input_strides: None
    event_metadata: Any
    extra_meta: Any
    cpu_children: list[FunctionEvent]
    cpu_parent: FunctionEvent | None
    self_cpu_memory_usage: int

    def __init__(self, number: int, event: dict[str, Any]) -> None:
        self.id = number
        self.name = self.trace_name = event["name"]
        if event["type"] == _STEP:
            self.trace_name = f"ProfilerStep#{int(event['step'])}"
        self.overload_name = event["detail"] or ""
        self.thread = event["tid"]
        self.pid = event["pid"]
        self.fwd_thread = event["forward_tid"]
        self.time_range = Interval(event["start_ns"] / 1e3, event["end_ns"] / 1e3)
        self.sequence_nr = event["sequence"]
        self.input_shapes = event["shapes"]
        self.input_dtypes = event["dtypes"]
        self.concrete_inputs = event["ints"]
        self.kwinputs = {}
        self.stack = event["stack"]
        self.scope = _scope(event["name"], event["category"] == _OPERATOR)
        self.category = event["category"]
        self.is_user_annotation = event["category"] != _OPERATOR
        self.is_async = event["type"] == _ASYNC
        self.metadata_json = event["args"] or ""
        self.count = 1
        self.kernels = []
        self.flops = max(event["flops"], 0)
        # As torch.profiler leaves them where nothing of the kind was recorded.
        self.activity_type = "user_annotation" if self.is_user_annotation else "cpu_op"
        self.external_id = number
        self.linked_correlation_id = self.flow_id = self.flow_type = 0
        self.flow_start = self.is_python_function = False
        self.python_id = self.python_parent_id = self.python_module_id = -1
        self.structured_input_shapes = event["shapes"]
        self.structured_input_strides = None  # not recorded
        self.event_metadata = self.extra_meta = None
        self.cpu_children = []
        self.cpu_parent = None
        self.self_cpu_memory_usage = 0

    @property
    def key(self) -> str:
        return self.name

    @property
    def cpu_time_total(self) -> float:
        return 0.0 if self.is_async else self.time_range.elapsed_us()

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        if self.is_async:
            return 0.0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def cpu_memory_usage(self) -> int:
        return self.self_cpu_memory_usage + sum(c.cpu_memory_usage for c in self.cpu_children)

    @property
    def device_memory_usage(self) -> int:
        return self.self_device_memory_usage + sum(c.device_memory_usage for c in self.cpu_children)

    def append_cpu_child(self, child: FunctionEvent) -> None:
        child.cpu_parent = self
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        self.cpu_parent = parent

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        """Refused: kernels are recorded, not added by hand."""
        raise NotImplementedError(f"dwell: kernel {name} on device {device} ({duration} us) cannot "
                                  "be added to a recorded event")

    def __repr__(self):
        return (f"<FunctionEvent id={self.id} name={self.name} thread={self.thread} "
                f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes}>")


class FunctionEventAvg(_Times):
    """All calls of one operator (with the grouping that key_averages() was given)."""

    key: str | None
    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    min_cpu_time: float
    max_cpu_time: float
    p50_cpu_time: float
    p99_cpu_time: float
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    device_memory_usage: int
    input_shapes: list[list[int]] | str
    overload_name: str
    stack: list[str]
    flops: int
    is_async: bool
    is_user_annotation: bool
    scope: int
    cpu_parent: None
    cpu_children: None

    is_remote, node_id = False, 0

    def __init__(self, row: dict[str, Any] | None = None) -> None:
        """Of a row of the calls view; without one, nothing, to which calls are added."""
        row = row or {}
        self.key = row.get("name")
        self.count = row.get("calls", 0)
        self.cpu_time_total = (row.get("total_ns") or 0) / 1e3
        self.self_cpu_time_total = (row.get("self_ns") or 0) / 1e3
        self.min_cpu_time = (row.get("min_ns") or 0) / 1e3
        self.max_cpu_time = (row.get("max_ns") or 0) / 1e3
        self.p50_cpu_time = (row.get("p50_ns") or 0) / 1e3
        self.p99_cpu_time = (row.get("p99_ns") or 0) / 1e3
        self.device_time_total = (row.get("device_total_ns") or 0) / 1e3
        self.self_device_time_total = (row.get("device_ns") or 0) / 1e3
        self.use_device = "cuda" if "device_ns" in row else None
        self.cpu_memory_usage = row.get("total_bytes") or 0
        self.self_cpu_memory_usage = row.get("self_bytes") or 0
        self.device_memory_usage = row.get("device_total_bytes") or 0
        self.self_device_memory_usage = row.get("device_bytes") or 0
        self.input_shapes = json.loads(row["input_shapes"]) if row.get("input_shapes") else ""
        self.overload_name = row.get("overload") or ""
        self.stack = (row.get("stack") or "").split("\n") if row.get("stack") else []
        self.flops = row.get("flops") or 0
        self.is_async = row.get("category") == "async"
        self.is_user_annotation = row.get("category", "operator") != "operator"
        self.scope = _scope(self.key or "", not self.is_user_annotation)
        self.cpu_parent = self.cpu_children = None  # several calls have several

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Adds the calls of another one of the same name."""
        if self.key is None:
            for name in ("key", "is_async", "is_user_annotation", "overload_name", "input_shapes", "stack", "scope",
                         "use_device", "node_id", "is_remote"):
                setattr(self, name, getattr(other, name))
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        self.count += other.count
        for name in ("cpu_time_total", "self_cpu_time_total", "device_time_total", "self_device_time_total",
                     "cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage",
                     "self_device_memory_usage"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.flops = (self.flops or 0) + (other.flops or 0)
        return self

    __iadd__ = add

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        return self.device_time_total / self.count if self.count else 0.0

    def __repr__(self):
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
                f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes}>")


_E = TypeVar("_E", "FunctionEvent", "FunctionEventAvg")


class EventList(list[_E]):
    """A list of events with the tables and exports of torch.autograd.profiler's."""

    _trace = _group_by = _ranges = None

    def __init__(self, items: Iterable[_E] = (), trace: Any = None, group_by: str | None = None,
                 ranges: str | None = None) -> None:
        """`ranges`: which rows tables have besides operators, as View's option; None: named ranges and steps."""
        super().__init__(items)
        if trace is not None:
            self._trace, self._group_by, self._ranges = native.trace_of(trace), group_by, ranges

    def _source(self):
        if self._trace is None:
            raise ValueError("EventList: the list was made without a trace: take one of a dwell.profile")
        return self._trace

    def table(self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75,
              max_name_column_width: int = 55, max_shapes_column_width: int = 80, header: str | None = None,
              top_level_events_only: bool = False, time_unit: str | None = None) -> str:
        """torch's table, of the whole result."""
        options = native.view_options(
            sort=sort_by, limit=row_limit, group_by=self._group_by, ranges=self._ranges, top_level=top_level_events_only,
            header=header, time_unit=time_unit,
            widths=native.column_widths(max_src_column_width, max_name_column_width,
                                        max_shapes_column_width))
        return self._source().layout(_layout(), options)

    def __str__(self):
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        return sum(event.self_cpu_time_total for event in self)

    def total_average(self) -> FunctionEventAvg:
        """The sums over all events, as one FunctionEventAvg."""
        total = FunctionEventAvg()
        for event in self:
            total.key = None
            total.add(event)
        total.key = "Total"
        total.cpu_memory_usage, total.device_memory_usage = total.self_cpu_memory_usage, total.self_device_memory_usage
        return total

    def supported_export_stacks_metrics(self) -> list[str]:
        return ["self_cpu_time_total", "self_cuda_time_total"]

    def _repr_html_(self):
        if not self:
            return None
        return View(self._source(), "operators", limit=20, group_by=self._group_by).format("html")

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList[FunctionEventAvg]:
        return averages(self._source(), group_by_input_shapes, group_by_stack_n, group_by_overload_name, self._ranges)

    def export_chrome_trace(self, path: str | os.PathLike[str], use_python_export: bool = False) -> None:
        refuse_python_export(use_python_export)
        self._source().export(b"chrome", path)

    def export_stacks(self, path: str | os.PathLike[str], metric: str) -> None:
        self._source().export(b"folded", path, metric=metric)


def refuse_python_export(asked: bool) -> None:
    if asked:
        raise ValueError("dwell.profile: use_python_export has no meaning here: there is one exporter")


def _layout():
    # As the PyTorch of this process prints it; without one, as the newest.
    version = getattr(sys.modules.get("torch"), "__version__", "2")
    return b"torch:1.13" if version.startswith("1.") else b"torch"


# ---- averages ------------------------------------------------------------------------------


def averages(trace: Any, by_shape: bool = False, by_stack: int = 0, by_overload: bool = False,
             ranges: str | None = None) -> EventList[FunctionEventAvg]:
    """The rows of the calls view as an EventList. `by_stack`: how many frames a row's calls share."""
    frames = native.whole(by_stack, "group_by_stack_n", -2**31, 2**31 - 1)
    groups = ["shape"] * bool(by_shape) + ["overload"] * bool(by_overload) + [f"stack:{frames}"] * (frames > 0)
    group_by, trace = ",".join(groups) or None, native.trace_of(trace)
    rows = View(trace, "calls", group_by=group_by, ranges=ranges).rows()
    return EventList(map(FunctionEventAvg, rows), trace, group_by, ranges)


# ---- events --------------------------------------------------------------------------------


def _frame_text(frame):
    name = frame.function.decode(errors="replace")
    if not frame.file:
        return name
    return f"{frame.file.decode(errors='replace')}({frame.line}): {name}"


def _copy(event):
    tensors = [event.tensors[i] for i in range(event.tensor_count)]
    values = [[t.sizes[d] for d in range(t.dimensions)] for t in tensors]
    return {
        "type": event.type, "category": event.category, "pid": event.pid, "tid": event.tid,
        "name": event.name.decode(errors="replace"),
        "detail": event.detail.decode(errors="replace") if event.detail else None,
        "depth": event.depth, "start_ns": event.start_ns, "end_ns": event.end_ns,
        "handle": event.handle, "bytes": event.size_bytes,
        "sequence": -1 if event.sequence_number == 2**64 - 1 else event.sequence_number,
        "forward_tid": event.forward_tid,
        "shapes": [[] if t.dtype in _VALUES else v for t, v in zip(tensors, values)],
        "dtypes": [_DTYPES.get(t.dtype, "") for t in tensors],
        "ints": [_VALUES[t.dtype](v) if t.dtype in _VALUES else None for t, v in zip(tensors, values)],
        "stack": [_frame_text(event.stack[i]) for i in range(event.stack_depth)],
        "args": event.args.decode(errors="replace") if event.args else None,
        "step": event.value, "flops": event.flops,
    }


def _collect(trace, shown):
    return _each(trace, lambda event: _copy(event) if event.type in (_ALLOC, _FREE, _STEP, _ASYNC) or (
        event.type == _RANGE and event.category in shown) else None)


def ranges_of(trace: Any, category: int) -> list[tuple[str, int, int]]:
    """(name, start_ns, end_ns) of each range of the category that has ended, by their ends."""
    ranges = _each(trace, lambda event: (event.name.decode(errors="replace"), event.start_ns, event.end_ns)
                   if event.type == _RANGE and event.category == category and not event.open else None)
    return sorted(ranges, key=lambda each: each[2])


def _each(trace, take):
    """What `take` returns for each event of the trace, without the None."""
    events, failure = [], []

    def each(event, _):
        try:
            taken = take(event.contents)
            if taken is not None:
                events.append(taken)
            return 0
        except BaseException as exception:  # pylint: disable=broad-except
            failure.append(exception)
            return 1

    try:
        native.trace_of(trace).call(native.read().dwell_trace_events, native.EACH(each), None)
    except native.Error:
        if not failure:
            raise
    if failure:
        raise failure[0]
    return events


def _memory(events):
    """(time, bytes, whether a device has them) by thread: an allocation and its free, wherever that happens."""
    sizes, changes = {}, {}
    for event in sorted((e for e in events if e["type"] in (_ALLOC, _FREE)),
                        key=lambda e: (e["start_ns"], e["type"] == _ALLOC)):
        key = event["pid"], event["handle"]
        if event["type"] == _ALLOC:
            change, on_device = event["bytes"], not (event["detail"] or "cpu").startswith("cpu")
            sizes[key] = change, on_device
        else:
            change, on_device = sizes.pop(key, (0, False))
            change = -change
        changes.setdefault((event["pid"], event["tid"]), []).append((event["start_ns"], change, on_device))
    return changes


def _nest(calls):
    """Parents and children by their intervals, thread by thread. Operations of a call in a counted one are that one's."""
    open_calls, counted = [], set()
    for call in sorted(calls, key=lambda c: (c.time_range.start, -c.time_range.end)):
        while open_calls and open_calls[-1].time_range.end <= call.time_range.start:
            open_calls.pop()
        if open_calls and call.time_range.end <= open_calls[-1].time_range.end:
            open_calls[-1].append_cpu_child(call)
            if open_calls[-1].id in counted:
                counted.add(call.id)
                call.flops = 0
        if call.flops:
            counted.add(call.id)
        open_calls.append(call)


def _link(calls):
    """What the engine of autograd evaluates, and the operator of the forward pass that made it, as Kineto links them."""
    forward, evaluated = {}, []
    for call in calls:
        if call.scope == _BACKWARD_SCOPE:
            evaluated.append(call)
            parent = call.cpu_parent
            if parent is not None and parent.name == _EVALUATES + call.name:
                parent.sequence_nr, parent.fwd_thread = call.sequence_nr, call.fwd_thread
        elif call.sequence_nr >= 0:
            forward[call.thread, call.sequence_nr] = call
    flow = 0
    for call in evaluated:
        made = forward.pop((call.fwd_thread, call.sequence_nr), None)
        if made is not None:
            flow += 1
            made.flow_id = call.flow_id = flow
            made.flow_type = call.flow_type = 1
            made.flow_start = True


def _give_memory(calls, changes):
    """Each change is the innermost call's of its own thread at its time."""
    calls = sorted(calls, key=lambda c: (c.time_range.start, -c.time_range.end))
    at, open_calls = 0, []
    for time_ns, change, on_device in changes:
        while at < len(calls) and calls[at].time_range.start * 1e3 <= time_ns:
            open_calls.append(calls[at])
            at += 1
        while open_calls and open_calls[-1].time_range.end * 1e3 < time_ns:
            open_calls.pop()
        if open_calls and on_device:
            open_calls[-1].self_device_memory_usage += change
        elif open_calls:
            open_calls[-1].self_cpu_memory_usage += change


def events_of(trace: Any, categories: frozenset[int] = frozenset(), ranges: str | None = None) -> EventList[FunctionEvent]:
    """Each call of the result as an EventList, by time; ranges of `categories` too, which
    are otherwise left out. `ranges` as in EventList."""
    trace = native.trace_of(trace)
    events = _collect(trace, _SHOWN | categories)
    if ranges is not None and "steps" not in ranges:
        events = [event for event in events if event["type"] != _STEP]
    for event in events:
        if event["type"] == _STEP:
            event["name"], event["category"] = "ProfilerStep*", _ZONE
    calls = [FunctionEvent(number, event)
             for number, event in enumerate(e for e in events if e["type"] not in (_ALLOC, _FREE))]
    changes = _memory(events)
    threads = {}
    for call in calls:
        if not call.is_async:
            threads.setdefault((call.pid, call.thread), []).append(call)
    for key, of_thread in threads.items():
        _nest(of_thread)
        _give_memory(of_thread, changes.get(key, ()))
    calls.sort(key=lambda call: (call.time_range.start, -call.time_range.end))
    _link(calls)
    return EventList(calls, trace, ranges=ranges)
