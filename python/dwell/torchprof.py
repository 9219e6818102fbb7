"""torchprof's names over dwell: time and memory of a PyTorch model, layer by layer.

    import dwell.torchprof as torchprof

    with torchprof.Profile(model, profile_memory=True) as prof:
        model(x)
    print(prof)

A script that imports it in place of torchprof runs as it is. Layers are recorded in C while
the model runs as it always does: no forward() is replaced, what a layer calls is the layer's,
and the backward pass belongs to the layers whose operators made it.
"""
from __future__ import annotations

import difflib
import warnings
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native as native
from .events import events_of
from .profiler import ProfilerActivity, profile
from .views import View

if TYPE_CHECKING:
    from torch.autograd.profiler_util import EventList
    from torch.nn import Module

__all__ = ["Profile", "Trace"]

_LAYER = 3
_NO_DATA = -9


class Trace(NamedTuple):
    """A module of the model: `path` its names from the root down (the root's is its class), `leaf` whether it holds no
    others, `module` itself."""
    path: tuple[str, ...]
    leaf: bool
    module: Module


def walk_modules(module: Module) -> Iterator[Trace]:
    """A Trace for each module of the model, parents first, children in their own order. One
    that lies in several others is there for each; one that holds itself ends there."""
    ahead = [((type(module).__name__,), module, frozenset())]
    while ahead:
        path, module, above = ahead.pop()
        above |= {id(module)}
        children = [(name, child) for name, child in module.named_children() if id(child) not in above]
        yield Trace(path, not children, module)
        ahead += [(path + (name,), child, above) for name, child in reversed(children)]


def _chosen(paths, traces):
    """The paths that have figures: the leaves', or those asked for. Raises ValueError for one
    that names no module."""
    if paths is None:
        return {trace.path for trace in traces if trace.leaf}
    known = {".".join(trace.path): trace.path for trace in traces}
    chosen = set()
    for path in paths:
        text = path if isinstance(path, str) else ".".join(path)
        if text not in known:
            near = difflib.get_close_matches(text, known, 1, 0)
            raise ValueError(f"torchprof.Profile: no module {path!r} in the model; the nearest is "
                             f"{known[near[0]] if near else next(iter(known.values()))!r}")
        chosen.add(known[text])
    return chosen


class _Measure:
    """Sums of a module or of an operator within one: nanoseconds and bytes."""

    def __init__(self, calls=0):
        self.calls = calls
        self.self_ns = self.total_ns = self.device_ns = 0
        self.self_bytes = self.total_bytes = 0
        self.device_bytes = self.device_total_bytes = 0
        self.backward_ns = self.backward_bytes = 0

    def add(self, row, total_ns, total_bytes, device_total_bytes):
        self.self_ns += row["operators_ns"] or 0
        self.total_ns += total_ns or 0
        self.device_ns += row["device_ns"] or 0
        self.self_bytes += row["self_bytes"] or 0
        self.total_bytes += total_bytes or 0
        self.device_bytes += row.get("device_bytes") or 0
        self.device_total_bytes += device_total_bytes or 0
        self.backward_ns += row["backward_ns"] or 0
        self.backward_bytes += row["backward_bytes"] or 0


class _Layers:
    """The layers view of a result: each layer's row with the rows below it, by path."""

    def __init__(self, trace):
        try:
            rows = View(trace, "layers", events=True).rows()
        except native.Error as error:
            if error.code != _NO_DATA:
                raise
            rows = []  # nothing was called
        self._rows = [row for row in rows if row["path"] is not None]
        self._at = {row["path"]: i for i, row in enumerate(self._rows) if row["kind"] == "layer"}
        self.has_device = any(row["device_ns"] is not None for row in rows)
        self.has_device_memory = any(row.get("device_bytes") is not None for row in rows)

    def below(self, ends):
        """Paths that are one of `ends`, or end with one: a model that another one called."""
        return {path for path in self._at
                if any(path == end or path.endswith("." + end) for end in ends)}

    def calls(self, path):
        """How often a layer was called."""
        return self._rows[self._at[path]]["calls"] or 0 if path in self._at else 0

    def _within(self, paths):
        for path in paths:
            at = self._at.get(path, len(self._rows))
            for row in self._rows[at:]:
                if row["path"] != path and not row["path"].startswith(path + "."):
                    break
                yield row

    def measure(self, paths):
        """Of all that lies in the layers `paths`. Its total is the inclusive time of its outermost
        operators, which is what the self times of all of them add up to."""
        measure = _Measure(sum(self._rows[self._at[p]]["calls"] or 0 for p in paths if p in self._at))
        for row in self._within(paths):
            if row["kind"] == "layer":
                measure.add(row, row["operators_ns"], row["self_bytes"], row.get("device_bytes"))
        return measure

    def operators(self, paths, with_backward):
        """A _Measure for each operator's name, in the order of the view."""
        found = OrderedDict()
        for row in self._within(paths):
            if row["kind"] == "operator" and (row["calls"] or with_backward):
                measure = found.setdefault(row["name"], _Measure())
                measure.calls += row["calls"] or 0
                measure.add(row, row["total_ns"], row["total_bytes"], row.get("device_total_bytes"))
        return found


# ---- the listing -------------------------------------------------------------------------


def format_time(ns: float) -> str:
    """In the unit that fits, as PyTorch writes it."""
    for limit, unit in ((1e9, "s"), (1e6, "ms")):
        if ns >= limit:
            return f"{ns / limit:.3f}{unit}"
    return f"{ns / 1e3:.3f}us"


def format_memory(size: int) -> str:
    """In the unit that fits, as PyTorch writes it."""
    for limit, unit in ((1 << 30, "Gb"), (1 << 20, "Mb"), (1 << 10, "Kb")):
        if abs(size) >= limit:
            return f"{size / limit:.2f} {unit}"
    return f"{size} b"


_COLUMNS = OrderedDict((
    ("Self CPU total", lambda m: format_time(m.self_ns)),
    ("CPU total", lambda m: format_time(m.total_ns)),
    ("Self CUDA total", lambda m: format_time(m.device_ns)),
    ("CUDA total", lambda m: format_time(m.device_ns)),
    ("Self CPU Mem", lambda m: format_memory(m.self_bytes)),
    ("CPU Mem", lambda m: format_memory(m.total_bytes)),
    ("Self CUDA Mem", lambda m: format_memory(m.device_bytes)),
    ("CUDA Mem", lambda m: format_memory(m.device_total_bytes)),
    ("Backward CPU total", lambda m: format_time(m.backward_ns)),
    ("Backward CPU Mem", lambda m: format_memory(m.backward_bytes)),
    ("Number of Calls", lambda m: str(m.calls)),
))


def _lines(depths):
    """What stands before each name of a tree in listing order: lines to the siblings that
    follow. One pass from the end tells which have one, one from the start draws."""
    follows, met = [False] * len(depths), set()
    for i in range(len(depths) - 1, -1, -1):
        if i + 1 < len(depths):
            met.difference_update(range(depths[i] + 1, depths[i + 1] + 1))
        follows[i] = depths[i] in met
        met.add(depths[i])
    open_above, lines = {}, []
    for depth, goes_on in zip(depths, follows):
        open_above[depth] = goes_on
        above = "".join("│" if open_above[outer] else " " for outer in range(1, depth))
        lines.append(above + ("├── " if goes_on else "└── ") if depth else "")
    return lines


def _listing(rows, columns):
    """`rows` of (depth, name, measure or None) as text."""
    table = [["Module", *columns]]
    for line, (_, name, measure) in zip(_lines([row[0] for row in rows]), rows):
        table.append([line + name, *("" if measure is None else _COLUMNS[column](measure)
                                     for column in columns)])
    widths = [max(map(len, cells)) for cells in zip(*table)]
    text = [" | ".join(cell.ljust(width) for cell, width in zip(cells, widths)) for cells in table]
    text.insert(1, "-|-".join("-" * width for width in widths))
    return "\n".join(text) + "\n"


# ---- the profile -------------------------------------------------------------------------


class Profile:
    """Layer by layer: a context manager around calls of `model`, from which it is not told
    what to call. It can be used once.

    enabled: False records nothing. use_cuda: the device's columns, where there is one.
    profile_memory: the memory columns. paths: the modules to show figures of (tuples of names
    from the root's class down, as in Trace), each with all that lies below it; None: the
    leaves. Raises ValueError for a path that names no module.
    """

    enabled: bool
    use_cuda: bool
    profile_memory: bool
    paths: Iterable[Sequence[str] | str] | None
    entered: bool
    exited: bool
    traces: tuple[Trace, ...]

    def __init__(self, model: Module, enabled: bool = True, use_cuda: bool = False, profile_memory: bool = False,
                 paths: Iterable[Sequence[str] | str] | None = None) -> None:
        self._model = model
        self.enabled, self.use_cuda, self.profile_memory = enabled, use_cuda, profile_memory
        self.paths = paths
        self.entered = self.exited = False
        self.traces = ()
        self._layers = self._events = self._profile = None
        if paths is not None:
            _chosen(paths, walk_modules(model))
        if use_cuda and not _has_device():
            warnings.warn("torchprof.Profile: use_cuda=True, and this PyTorch has no device: "
                          "there will be no CUDA columns", stacklevel=2)

    def __enter__(self) -> Profile:
        if not self.enabled:
            return self
        if self.entered:
            raise RuntimeError("torchprof profiler is not reentrant")
        self.entered = True
        self.traces = tuple(walk_modules(self._model))
        self._chosen = _chosen(self.paths, self.traces)
        native.layer_paths(self._model, True)  # named before they are called
        activities = {ProfilerActivity.CPU} | ({ProfilerActivity.CUDA} if self.use_cuda and _has_device() else set())
        self._profile = profile(activities=activities, profile_memory=self.profile_memory)
        self._profile.start()
        return self

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: object) -> None:
        if not self.enabled:
            return
        self._profile.stop()
        self._known = self._known_paths()
        self.exited = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the model."""
        return self._model(*args, **kwargs)

    def _known_paths(self):
        """What calls of each trace's module were recorded as. A module in one place is known by
        all its paths, one in several only by those through the place."""
        places = Counter(id(trace.module) for trace in self.traces)
        self._roots = native.layer_paths(self._model, False)
        self._twins = defaultdict(list)
        for trace in self.traces:
            if places[id(trace.module)] > 1:
                self._twins[id(trace.module)].append(trace)
        return {trace.path: set(native.layer_paths(trace.module, False)) if places[id(trace.module)] == 1
                else set() for trace in self.traces}

    def _paths(self, trace, roots):
        """What the calls of a trace's module were recorded as. A module at several places of one caller is recorded at the
        first of them; where that has no figures, the next one that has takes its calls."""
        places = [trace]
        others = self._twins.get(id(trace.module), ())
        if others and not self._known[trace.path]:
            alike = [other for other in others if self._caller(other, roots) == self._caller(trace, roots)]
            chosen = [other for other in alike if other.path in self._chosen]
            if alike[0] is not chosen[0] and chosen[0] is trace:
                places.append(alike[0])
        return self._known[trace.path] | {".".join((root,) + place.path[1:]) for root in roots for place in places}

    def _caller(self, trace, roots):
        """The path of the innermost module around a place that was called itself, as a list of modules is not."""
        for length in range(len(trace.path) - 1, 1, -1):
            if any(self._read_layers().calls(".".join((root,) + trace.path[1:length])) for root in roots):
                return trace.path[:length]
        return trace.path[:1]

    def __str__(self) -> str:
        return self.display()

    def display(self, show_events: bool = False, backward: bool = False) -> str:
        """The listing: the model's tree with the figures of its leaves, or of `paths`.

        show_events: the operators within each in place of their sums. backward, beyond
        torchprof: two columns more, the time (and memory) of the backward pass.
        """
        if not self.exited:
            return "<unfinished torchprof.profile>"
        if self._layers is None:
            self._read_layers()
            if self.use_cuda and _has_device() and not self._layers.has_device:
                warnings.warn("torchprof.Profile: use_cuda=True, and nothing of a device was "
                              "recorded: there are no CUDA columns", stacklevel=2)
        roots, rows = self._layers.below(self._roots), []
        for trace in self.traces:
            depth, measured = len(trace.path) - 1, trace.path in self._chosen
            paths = self._paths(trace, roots) if measured else ()
            rows.append((depth, trace.path[-1],
                         self._layers.measure(paths) if measured and not show_events else None))
            if measured and show_events:
                operators = self._layers.operators(paths, backward)
                rows += [(depth + 1, name, operators[name])
                         for name in self._by_first_seen(trace, operators)]
        return _listing(rows, self._columns(backward))

    def _read_layers(self):
        if self._layers is None:
            self._layers = _Layers(self._profile.trace)
        return self._layers

    def _by_first_seen(self, trace, operators):
        """Of a module that holds others the view has its own operators first."""
        if trace.leaf:
            return operators
        seen = (event.name for call in self.raw()[1][trace.path] for event in call)
        return OrderedDict.fromkeys([*(name for name in seen if name in operators), *operators])

    def _columns(self, backward):
        left_out = set()
        if not (self.use_cuda and self._layers.has_device):
            left_out |= {"Self CUDA total", "CUDA total"}
        if not (self.use_cuda and self.profile_memory and self._layers.has_device_memory):
            left_out |= {"Self CUDA Mem", "CUDA Mem"}
        if not self.profile_memory:
            left_out |= {"Self CPU Mem", "CPU Mem", "Backward CPU Mem"}
        if not backward:
            left_out |= {"Backward CPU total", "Backward CPU Mem"}
        return [column for column in _COLUMNS if column not in left_out]

    @property
    def trace_profile_events(self) -> dict[tuple[str, ...], list[EventList]]:
        """The second of raw()."""
        if self._events is None:
            self._events = defaultdict(list)
            if self.exited:
                self._collect()
        return self._events

    def raw(self) -> tuple[tuple[Trace, ...], dict[tuple[str, ...], list[EventList]]] | None:
        """All Traces, and by path a list of PyTorch's own EventList, one for each call of a
        module that has figures. None before the end."""
        return (self.traces, self.trace_profile_events) if self.exited else None

    def _collect(self):
        by_name, threads = defaultdict(list), defaultdict(list)
        for event in events_of(self._profile.trace, frozenset({_LAYER})):
            if event.category == _LAYER:
                by_name[event.name].append(event)
            elif not event.is_async:
                threads[event.pid, event.thread].append(event)
        for trace in self.traces:
            if trace.path in self._chosen:
                calls = [call for path in self._paths(trace, self._roots) for call in by_name[path]]
                self._events[trace.path] = [
                    _event_list(call, threads[call.pid, call.thread], self.profile_memory)
                    for call in sorted(calls, key=lambda call: call.time_range.start)]


def _has_device():
    import torch
    return torch.cuda.is_available()


def _event_list(call, events, profile_memory):
    """The operators within one call of a layer, as PyTorch's EventList; times from its start."""
    import bisect

    from torch.autograd import DeviceType
    from torch.autograd.profiler_util import EventList, FunctionEvent

    starts = [event.time_range.start for event in events]
    began, ended = call.time_range.start, call.time_range.end
    found = EventList(profile_memory=profile_memory)
    for event in events[bisect.bisect_left(starts, began):bisect.bisect_right(starts, ended)]:
        found.append(FunctionEvent(
            len(found), event.name, event.thread, event.time_range.start - began,
            event.time_range.end - began, fwd_thread=event.fwd_thread,
            input_shapes=event.input_shapes, stack=event.stack, scope=event.scope,
            cpu_memory_usage=event.cpu_memory_usage if profile_memory else 0,
            sequence_nr=event.sequence_nr, device_type=DeviceType.CPU, flops=event.flops))
    # As the profiler does itself, but for leaving out calls within one of their name.
    found._populate_cpu_children()
    found._tree_built = True
    return found
