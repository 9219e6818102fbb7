"""Results as torch.profiler gives them: FunctionEvent, FunctionEventAvg, EventList.

Tables and sums are C's (one pass over the trace); objects are made of them when asked for.
Times are microseconds, memory bytes.
"""
import sys

from . import _native as native
from .views import View

(_RANGE, _MARK, _COUNTER, _ALLOC, _FREE, _ASYNC, _OUT, _IN, _STEP) = range(9)
_ZONE, _PHASE, _OPERATOR, _ACTION = 0, 1, 2, 5
_SHOWN = {_ZONE, _PHASE, _OPERATOR, _ACTION}
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


class Interval:
    """A stretch of time, microseconds since the run's start."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        return self.end - self.start

    def __repr__(self):
        return f"<Interval {self.start:.3f}..{self.end:.3f} us>"


class _Times:
    """What both kinds of events derive from their sums."""

    cpu_time_str = property(lambda self: _time_text(self.cpu_time))
    cpu_time_total_str = property(lambda self: _time_text(self.cpu_time_total))
    self_cpu_time_total_str = property(lambda self: _time_text(self.self_cpu_time_total))
    device_time_str = property(lambda self: _time_text(self.device_time))
    device_time_total_str = property(lambda self: _time_text(self.device_time_total))
    self_device_time_total_str = property(lambda self: _time_text(self.self_device_time_total))
    cuda_time_str = property(lambda self: self.device_time_str)
    cuda_time_total_str = property(lambda self: self.device_time_total_str)
    self_cuda_time_total_str = property(lambda self: self.self_device_time_total_str)
    cuda_time = property(lambda self: self.device_time)
    cuda_time_total = property(lambda self: self.device_time_total)
    self_cuda_time_total = property(lambda self: self.self_device_time_total)
    # Of single calls, and where no device is recorded.
    device_time = device_time_total = self_device_time_total = 0.0
    self_device_memory_usage = 0
    cuda_memory_usage = property(lambda self: self.device_memory_usage)
    self_cuda_memory_usage = property(lambda self: self.self_device_memory_usage)
    device_type = "DeviceType.CPU"
    use_device = None
    device_index = device_resource_id = 0
    is_legacy = False
    is_remote = False
    node_id = -1
    # Of the sums in a table, which takes them from the trace.
    self_cpu_percent = total_cpu_percent = total_device_percent = -1


class FunctionEvent(_Times):
    """One call: an operator, a named range, or a step ("ProfilerStep#N")."""

    def __init__(self, number, event):
        self.id = number
        self.name = self.trace_name = event["name"]
        self.overload_name = event["detail"] or ""
        self.thread = event["tid"]
        self.pid = event["pid"]
        self.fwd_thread = event["forward_tid"] or None
        self.time_range = Interval(event["start_ns"] / 1e3, event["end_ns"] / 1e3)
        self.sequence_nr = event["sequence"]
        self.input_shapes = event["shapes"]
        self.input_dtypes = event["dtypes"]
        self.concrete_inputs = event["ints"]
        self.kwinputs = {}
        self.stack = event["stack"]
        self.scope = 0 if event["category"] == _OPERATOR else 7
        self.category = event["category"]
        self.is_user_annotation = event["category"] != _OPERATOR
        self.is_async = event["type"] == _ASYNC
        self.metadata_json = event["args"] or ""
        self.count = 1
        self.kernels = []
        self.flops = None
        # As torch.profiler leaves them where nothing of the kind was recorded.
        self.activity_type = "cpu_op" if self.scope == 0 else "user_annotation"
        self.external_id = number
        self.linked_correlation_id = self.flow_id = self.flow_type = 0
        self.flow_start = self.is_python_function = False
        self.python_id = self.python_parent_id = self.python_module_id = -1
        self.structured_input_shapes = self.structured_input_strides = []
        self.event_metadata = self.extra_meta = None
        self.cpu_children = []
        self.cpu_parent = None
        self.self_cpu_memory_usage = 0

    key = property(lambda self: self.name)

    @property
    def cpu_time_total(self):
        return 0.0 if self.is_async else self.time_range.elapsed_us()

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self):
        if self.is_async:
            return 0.0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def cpu_memory_usage(self):
        return self.self_cpu_memory_usage + sum(c.cpu_memory_usage for c in self.cpu_children)

    @property
    def device_memory_usage(self):
        return self.self_device_memory_usage + sum(c.device_memory_usage for c in self.cpu_children)

    def append_cpu_child(self, child):
        child.cpu_parent = self
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent):
        self.cpu_parent = parent

    def append_kernel(self, name, device, duration):
        """Refused: kernels are recorded, not added by hand."""
        raise NotImplementedError(f"dwell: kernel {name} on device {device} ({duration} us) cannot "
                                  "be added to a recorded event")

    def __repr__(self):
        return (f"<FunctionEvent id={self.id} name={self.name} thread={self.thread} "
                f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes}>")


class FunctionEventAvg(_Times):
    """All calls of one operator (with the grouping that key_averages() was given)."""

    def __init__(self, row):
        self.key = row["name"]
        self.count = row["calls"]
        self.cpu_time_total = (row["total_ns"] or 0) / 1e3
        self.self_cpu_time_total = (row["self_ns"] or 0) / 1e3
        self.min_cpu_time = (row["min_ns"] or 0) / 1e3
        self.max_cpu_time = (row["max_ns"] or 0) / 1e3
        self.p50_cpu_time = (row["p50_ns"] or 0) / 1e3
        self.p99_cpu_time = (row["p99_ns"] or 0) / 1e3
        self.device_time_total = (row.get("device_total_ns") or 0) / 1e3
        self.self_device_time_total = (row.get("device_ns") or 0) / 1e3
        self.use_device = "cuda" if "device_ns" in row else None
        self.cpu_memory_usage = row.get("total_bytes") or 0
        self.self_cpu_memory_usage = row.get("self_bytes") or 0
        self.device_memory_usage = row.get("device_total_bytes") or 0
        self.self_device_memory_usage = row.get("device_bytes") or 0
        self.input_shapes = row.get("input_shapes") or ""
        self.overload_name = row.get("overload") or ""
        self.stack = (row.get("stack") or "").split("\n") if row.get("stack") else []
        self.flops = row.get("flops") or 0
        self.is_async = row.get("category") == "async"
        self.is_user_annotation = row.get("category", "operator") != "operator"
        self.scope = 0
        self.cpu_parent, self.cpu_children = None, []

    def add(self, other):
        """Adds the calls of another; of the same operator, or the key is the first's."""
        self.count += other.count
        for name in ("cpu_time_total", "self_cpu_time_total", "device_time_total", "self_device_time_total",
                     "cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage",
                     "self_device_memory_usage"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.flops = (self.flops or 0) + (other.flops or 0)
        return self

    __iadd__ = add

    @property
    def cpu_time(self):
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self):
        return self.device_time_total / self.count if self.count else 0.0

    def __repr__(self):
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
                f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes}>")


class EventList(list):
    """A list of events with the tables and exports of torch.autograd.profiler's."""

    _trace = _group_by = None

    def __init__(self, items=(), trace=None, group_by=None):
        super().__init__(items)
        if trace is not None:
            self._trace, self._group_by = native.trace_of(trace), group_by

    def _source(self):
        if self._trace is None:
            raise ValueError("EventList: the list was made without a trace: take one of a dwell.profile")
        return self._trace

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75,
              max_name_column_width=55, max_shapes_column_width=80, header=None,
              top_level_events_only=False, time_unit=None):
        """torch's table, of the whole result."""
        options = native.view_options(
            sort=sort_by, limit=row_limit, group_by=self._group_by, top_level=top_level_events_only,
            header=header, time_unit=time_unit,
            widths=native.column_widths(max_src_column_width, max_name_column_width,
                                        max_shapes_column_width))
        return self._source().layout(_layout(), options)

    def __str__(self):
        return self.table()

    @property
    def self_cpu_time_total(self):
        return sum(event.self_cpu_time_total for event in self)

    def total_average(self):
        """The sums over all events, as one FunctionEventAvg."""
        row = dict.fromkeys(("min_ns", "max_ns", "p50_ns", "p99_ns"), 0)
        row.update(name="Total", calls=sum(event.count for event in self),
                   total_ns=1e3 * sum(event.cpu_time_total for event in self),
                   self_ns=1e3 * self.self_cpu_time_total,
                   device_total_ns=1e3 * sum(event.device_time_total for event in self),
                   device_ns=1e3 * sum(event.self_device_time_total for event in self),
                   self_bytes=sum(event.self_cpu_memory_usage for event in self),
                   total_bytes=sum(event.self_cpu_memory_usage for event in self),
                   device_bytes=sum(event.self_device_memory_usage for event in self),
                   device_total_bytes=sum(event.self_device_memory_usage for event in self),
                   flops=sum(event.flops or 0 for event in self))
        return FunctionEventAvg(row)

    @property
    def supported_export_stacks_metrics(self):
        return ["self_cpu_time_total", "self_cuda_time_total"]

    def _repr_html_(self):
        if not self:
            return None
        return View(self._source(), "operators", limit=20, group_by=self._group_by).format("html")

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0,
                     group_by_overload_name=False):
        return averages(self._source(), group_by_input_shapes, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path, use_python_export=False):
        refuse_python_export(use_python_export)
        self._source().export(b"chrome", path)

    def export_stacks(self, path, metric):
        self._source().export(b"folded", path, metric=metric)


def refuse_python_export(asked):
    if asked:
        raise ValueError("dwell.profile: use_python_export has no meaning here: there is one exporter")


def _layout():
    # As the PyTorch of this process prints it; without one, as the newest.
    version = getattr(sys.modules.get("torch"), "__version__", "2")
    return b"torch:1.13" if version.startswith("1.") else b"torch"


# ---- averages ------------------------------------------------------------------------------


def averages(trace, by_shape=False, by_stack=0, by_overload=False):
    """The rows of the calls view as an EventList. `by_stack`: how many frames a row's calls share."""
    frames = native.whole(by_stack, "group_by_stack_n", -2**31, 2**31 - 1)
    groups = ["shape"] * bool(by_shape) + ["overload"] * bool(by_overload) + [f"stack:{frames}"] * (frames > 0)
    group_by, trace = ",".join(groups) or None, native.trace_of(trace)
    return EventList(map(FunctionEventAvg, View(trace, "calls", group_by=group_by).rows()), trace, group_by)


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
        "step": event.value,
    }


def _collect(trace, shown):
    return _each(trace, lambda event: _copy(event) if event.type in (_ALLOC, _FREE, _STEP, _ASYNC) or (
        event.type == _RANGE and event.category in shown) else None)


def ranges_of(trace, category):
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
    """Parents and children by their intervals, thread by thread."""
    open_calls = []
    for call in sorted(calls, key=lambda c: (c.time_range.start, -c.time_range.end)):
        while open_calls and open_calls[-1].time_range.end <= call.time_range.start:
            open_calls.pop()
        if open_calls and call.time_range.end <= open_calls[-1].time_range.end:
            open_calls[-1].append_cpu_child(call)
        open_calls.append(call)


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


def events_of(trace, categories=frozenset()):
    """Each call of the result as an EventList, by time; ranges of `categories` too, which
    are otherwise left out."""
    trace = native.trace_of(trace)
    events = _collect(trace, _SHOWN | categories)
    for event in events:
        if event["type"] == _STEP:
            event["name"], event["category"] = f"ProfilerStep#{int(event['step'])}", _ZONE
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
    return EventList(calls, trace)
