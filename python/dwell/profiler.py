"""torch.profiler's names over dwell: profile, schedule, record_function and their results.

A script that imports them from here in place of torch.profiler runs as it is. What has no
meaning here is refused by its name, never ignored. Times are microseconds, as there.
"""
from __future__ import annotations

import contextlib
import ctypes
import enum
import functools
import importlib
import inspect
import json as _json
import os
import socket
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from . import _native as native
from .events import EventList, FunctionEvent, FunctionEventAvg, averages, events_of, refuse_python_export
from .views import View

__all__ = ["ProfilerAction", "ProfilerActivity", "begin_step", "end_step", "kineto_available", "profile",
           "record_function", "schedule", "step", "supported_activities", "tensorboard_trace_handler"]


class ProfilerAction(enum.Enum):
    """What is done with a step."""
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(enum.Enum):
    """What is recorded. All but CPU mean NVIDIA's devices. They are valid without a device: a warning, and no
    device columns."""
    CPU = 1
    CUDA = 2
    XPU = 3
    MTIA = 4
    HPU = 5
    PrivateUse1 = 6


def supported_activities() -> set[ProfilerActivity]:
    """What is recorded here. Asking a profile for more is a warning, not an error."""
    torch = sys.modules.get("torch")
    has_device = os.path.exists("/proc/driver/nvidia/version") or (torch is not None and torch.cuda.is_available())
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA} if has_device else {ProfilerActivity.CPU}


def _default_activities():
    """What a profile records that is not told: devices, too, where this process's PyTorch has one."""
    torch = sys.modules.get("torch")
    has_device = torch is not None and torch.cuda.is_available()
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA} if has_device else {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Whether Kineto is used: never."""
    return False


def _record_all(_):
    """The schedule of a profile without one."""
    return ProfilerAction.RECORD


class _Schedule:
    """A schedule that the C core knows: an idle step costs five readings of the clock."""

    def __init__(self, **numbers):
        self.native = native.Schedule(**numbers)

    def __call__(self, step):
        if native.whole(step, "step", -2**63) < 0:
            raise ValueError(f"step {step}: steps are counted from 0")
        return ProfilerAction(
            native.record.dwell_schedule_action(ctypes.byref(self.native), step))


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
             skip_first_wait: int = 0) -> Callable[[int], ProfilerAction]:
    """The action of each step: after skip_first steps, cycles of wait, warmup and active
    steps, `repeat` of them (0: for ever)."""
    numbers = dict(wait=wait, warmup=warmup, active=active, repeat=repeat, skip_first=skip_first)
    for name, value in numbers.items():
        native.whole(value, name, -2**63, 2**32 - 1)
    if any(value < 0 for value in numbers.values()) or active < 1:
        said = ", ".join(f"{name}={value} (need {'> 0' if name == 'active' else '>= 0'})"
                         for name, value in numbers.items())
        raise AssertionError(f"Invalid profiler schedule arguments. Got {said}.")
    return _Schedule(skip_first_wait=1 if skip_first_wait else 0, **numbers)


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False,
                              use_python_export: bool = False) -> Callable[[profile], None]:
    """For on_trace_ready: writes each result where TensorBoard's profiler plugin looks."""
    refuse_python_export(use_python_export)
    os.makedirs(dir_name, exist_ok=True)

    def handle(prof):
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handle


# ---- named ranges ------------------------------------------------------------------------

_ZONE = 0
emitter = None  # what emits ranges as NVTX now; see nvtx.py
_begin, _end = native.quick.dwell_begin_named, native.quick.dwell_end_id
_MOST_IDS = 4096
_ids = {}  # of blocks, by name and arguments


def _id_of(name, args):
    """0: no session has begun."""
    number = native.record.dwell_intern(_ZONE, native.encoded_text(name, "name"), native.encoded(args, "args"))
    if number and len(_ids) < _MOST_IDS:
        _ids[name, args] = number
    return number


class _Blocks(list):
    """The open blocks of a thread in the order of their begins: (record_function, what the begin returned, what
    emits it). Without a record_function, another thread has left the block."""

    strays = False  # whether there are such

    def end(self, at):
        """Ends the block at a place, in its own thread."""
        _, began, emits = self.pop(at)
        if began:  # its number among those of its name
            native.record.dwell_end_named_of(began >> 2, sum(block[1] == began for block in self[at:]))
        if emits:
            emits.dwi_emit_pop()

    def end_strays(self):
        """Ends what other threads have left."""
        self.strays = False
        for at in reversed(range(len(self))):
            if self[at][0] is None:
                self.end(at)

    def find(self, owner):
        """The place of the owner's innermost block, or None."""
        return next((at for at in reversed(range(len(self))) if self[at][0] is owner), None)


class _Thread(threading.local):
    def __init__(self):
        self.blocks = _Blocks()
        _all_blocks[id(self.blocks)] = self.blocks


_all_blocks = weakref.WeakValueDictionary()
_thread = _Thread()


def _leave(owner):
    """The end of a block that is not this thread's innermost."""
    blocks = _thread.blocks
    blocks.end_strays()
    at = blocks.find(owner)
    if at is not None:
        blocks.end(at)
        return
    native.record.dwell_probe_lost(1)  # the time of this end
    for blocks in list(_all_blocks.values()):
        at = blocks.find(owner)
        if at is not None:
            blocks[at] = (None, *blocks[at][1:])
            blocks.strays = True
            return


def _around(block, function):
    """The function with each of its runs in a block of its own: what it does when it is called, or when what the
    call makes is awaited or iterated."""
    if inspect.iscoroutinefunction(function):
        async def run(*arguments, **named):
            with block():
                return await function(*arguments, **named)
    elif inspect.isasyncgenfunction(function):
        async def run(*arguments, **named):
            with block():
                made = function(*arguments, **named)
                proceed, given = made.asend, None
                try:
                    while True:
                        try:
                            item = await proceed(given)
                        except StopAsyncIteration:
                            return
                        try:
                            proceed, given = made.asend, (yield item)
                        except Exception as exception:  # pylint: disable=broad-except
                            proceed, given = made.athrow, exception
                finally:
                    await made.aclose()
    elif inspect.isgeneratorfunction(function):
        def run(*arguments, **named):
            with block():
                return (yield from function(*arguments, **named))
    else:
        def run(*arguments, **named):
            with block():
                return function(*arguments, **named)
    return functools.wraps(function)(run)


class record_function(contextlib.ContextDecorator):
    """A named range of the program: a context manager and a decorator, of coroutines and generators too.

    It ends the range that it began, whatever began since: a block may be suspended (await, yield) while others
    run. Where another thread ends it, its range ends when its own thread next begins or ends one, and the report
    counts a lost record.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._id = _ids.get((name, args)) or _id_of(name, args)

    def _recreate_cm(self):
        return record_function(self.name, self.args)

    def __call__(self, func):
        return _around(self._recreate_cm, func)

    def __reduce__(self):
        return type(self), (self.name, self.args)  # an id is of its process

    def __enter__(self) -> record_function:
        blocks = _thread.blocks
        if blocks.strays:
            blocks.end_strays()
        if emitter:
            emitter.dwi_emit_push(native.encoded(self.name))
        # A name met before a session began has no id yet.
        blocks.append((self, _begin(self._id or self._now(), _ZONE), emitter))
        return self

    def _now(self):
        self._id = _id_of(self.name, self.args)
        return self._id

    def __exit__(self, *exception: object) -> None:
        blocks = _thread.blocks
        if blocks and blocks[-1][0] is self:
            _, began, emits = blocks.pop()
            _end(began)
            if emits:
                emits.dwi_emit_pop()
        else:
            _leave(self)


# ---- the profile -------------------------------------------------------------------------

_REFUSED = {
    "experimental_config": "it configures Kineto, which is not used",
    "execution_trace_observer": "it is PyTorch's own: give it to torch.profiler",
    "custom_trace_id_callback": "traces of dwell are known by their file",
    "post_processing_timeout_s": "there is no post-processing: results are read when asked for",
}


def step() -> None:
    """An iteration of the program begins, and with it a step; the one before ends.

    For loops whose steps dwell does not find by itself, or finds elsewhere: from the first
    call on, these are the steps. In one thread of a process.
    """
    begin_step()


_marker = None  # the profile whose step() marks the steps; _PROGRAM: the program itself marks them, for ever
_PROGRAM = object()


def begin_step() -> None:
    global _marker  # pylint: disable=global-statement
    _marker = _PROGRAM
    if native.python_probe is None:
        native.record.dwell_step()
    else:
        native.python_probe.dwp_python_step(1)


def end_step() -> None:
    if native.python_probe is None:
        native.record.dwell_step_end()
    else:
        native.python_probe.dwp_python_step(0)


class _Marks:
    """The steps of a profile with a schedule begin and end where it is told, as PyTorch's do, and not where dwell finds
    some, unless the program marks them with step(), or another profile does."""

    def __init__(self):
        self._thread = None

    def begin(self, prof):
        global _marker  # pylint: disable=global-statement
        if _marker is None and native.python_probe is not None:
            _marker, self._thread = prof, threading.get_ident()
        self.mark(prof, 1)

    def mark(self, prof, what):
        if _marker is prof and self._thread == threading.get_ident():
            native.python_probe.dwp_python_step(what)

    def leave(self, prof):
        global _marker  # pylint: disable=global-statement
        self.mark(prof, 2)
        if _marker is prof:
            _marker = None


class _NoMarks:
    """Of a profile without a schedule."""
    begin = mark = leave = staticmethod(lambda *arguments: None)


class profile:
    """torch.profiler.profile: a context manager whose result is the range it saw.

    Profiles nest, overlap and run in several threads. Each cycle's result stays in the trace; key_averages(),
    events() and export_stacks() speak of the last, or, with acc_events=True, of all so far.
    """

    record_shapes: bool
    profile_memory: bool
    with_stack: bool
    with_flops: bool
    with_modules: bool
    acc_events: bool
    activities: set[Any]
    schedule: Callable[[int], Any]
    record_steps: bool
    use_device: str | None
    on_trace_ready: Callable[[profile], Any] | None
    execution_trace_observer: None
    experimental_config: None
    custom_trace_id_callback: None
    post_processing_timeout_s: None

    _handle = _result = _trace = _failure = _profiler = None
    _has_devices = _has_warned = False

    def __init__(self, *, activities: Iterable[Any] | None = None, schedule: Callable[[int], Any] | None = None,
                 on_trace_ready: Callable[[profile], Any] | None = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False, with_modules: bool = False,
                 experimental_config: None = None, execution_trace_observer: None = None, acc_events: bool = False,
                 use_cuda: bool | None = None, custom_trace_id_callback: None = None, post_processing_timeout_s: None = None,
                 name: str | None = None) -> None:
        for argument, why in _REFUSED.items():
            if locals()[argument] is not None:
                raise ValueError(f"dwell.profile: {argument} has no meaning here: {why}")
        for argument in ("schedule", "on_trace_ready"):
            if locals()[argument] is not None and not callable(locals()[argument]):
                raise TypeError(f"dwell.profile: {argument} is a {type(locals()[argument]).__name__}: give a function")
        if self._handle is not None:
            raise RuntimeError("dwell.profile: __init__() of a profile that is made already: make another one")
        self.record_shapes = record_shapes or with_flops
        self.profile_memory, self.with_stack, self.with_flops = profile_memory, with_stack, with_flops
        self.with_modules, self.acc_events = with_modules, acc_events
        self.schedule, self.record_steps = schedule or _record_all, bool(schedule)
        self._marks = _Marks() if schedule else _NoMarks()
        self._ranges, self._cycles = "named,steps" if schedule else "named", []
        self.execution_trace_observer = self.experimental_config = None
        self.custom_trace_id_callback = self.post_processing_timeout_s = None
        self.on_trace_ready = on_trace_ready
        self.activities = set(activities) if activities is not None else _default_activities()
        if use_cuda:
            warnings.warn("use_cuda is deprecated, use activities instead", FutureWarning,
                          stacklevel=2)
            self.activities.add(ProfilerActivity.CUDA)
        self.use_device = "cuda" if ProfilerActivity.CUDA.name in {activity.name for activity in self.activities
                                                                   if hasattr(activity, "name")} else None
        options = native.ProfileOptions(
            name=native.encoded(name, "name"), activities=self._activities(),
            record_shapes=bool(self.record_shapes), profile_memory=bool(profile_memory),
            with_stack=bool(with_stack), with_flops=bool(with_flops))
        this = weakref.ref(self)  # what C calls lives as long as the handle, which is the profile's
        if isinstance(schedule, _Schedule):
            options.schedule = schedule.native
        elif schedule is not None:
            options.action = native.ACTION(lambda step, _: this()._ask(step) if this() else 0)
        if on_trace_ready is not None:
            options.on_trace_ready = native.READY(lambda _handle, result, _: this() and this()._ready(result.contents))
        self._handle = native.ProfileHandle(
            native.pointer(native.check(native.record.dwell_profile_create, ctypes.byref(options))), keeps=options)
        self._has_devices = options.activities & 2 and native.devices.attach() is None
        warning = native.record.dwell_profile_warning(self._handle)
        if warning:
            warnings.warn(f"{warning.decode()}: {native.devices.lacks}", stacklevel=2)

    def _activities(self):
        mask = 0
        for activity in self.activities:
            name = getattr(activity, "name", str(activity))
            if name not in ProfilerActivity.__members__:
                raise ValueError(f"dwell.profile: activities has {activity!r}: give "
                                 + ", ".join(f"ProfilerActivity.{known}" for known in ProfilerActivity.__members__))
            mask |= 1 if name == "CPU" else 2
        return mask

    def _ask(self, step):
        # An exception must reach the caller of step(), not end in C.
        try:
            action = self.schedule(step)
            return native.whole(getattr(action, "value", action), "what the schedule returned", 0, 3)
        except BaseException as exception:  # pylint: disable=broad-except
            self._failure = exception
            return ProfilerAction.NONE.value

    def _ready(self, result):
        # As above.
        if self._has_devices:
            native.devices.follow(flush=True)
        self._take(result)
        try:
            self.on_trace_ready(self)
        except BaseException as exception:  # pylint: disable=broad-except
            self._failure = exception

    def _take(self, result):
        self._forget()
        self._result = native.Result(result.path, result.id, result.cycle, result.step_num)
        if self.acc_events:
            self._cycles = [cycle for cycle in self._cycles if cycle.path == result.path] + [self._result]

    def _forget(self):
        self._trace, self._has_warned = None, False
        self.__dict__.pop("_events", None)

    def _made(self):
        if self._handle is None:
            raise RuntimeError("dwell.profile: the object was made without __init__(): call dwell.profile()")
        return self._handle

    def _call(self, function):
        handle = self._made()
        try:
            with handle.lock:
                native.check(function, handle)
        finally:
            native.follow_gate()
            if self._has_devices:
                native.devices.follow()
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure

    def does_not_mark_steps(self) -> None:
        """step() follows steps that are found; beyond torch.profiler."""
        self._marks = _NoMarks()

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, kind: object, exception: object, traceback: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begins the range; under a schedule, its step 0."""
        self._made()
        self._forget()
        self._result = None
        self._call(native.record.dwell_profile_start)
        self._marks.begin(self)

    def stop(self) -> None:
        """Ends the range and the cycle under way, which on_trace_ready gets. Waits for devices, as there."""
        if self._has_devices:
            native.devices.wait()
        self._marks.leave(self)
        try:
            self._call(native.record.dwell_profile_stop)
        except native.Error as error:
            warnings.warn(str(error), stacklevel=2)
        if self._has_devices:
            native.devices.follow(flush=True)
        result = native.Result()
        if not native.record.dwell_profile_result(self._made(), ctypes.byref(result), None):
            if self._result is None or self._result.id != result.id:
                self._take(result)

    def step(self) -> None:
        """The end of a step: what comes is the next."""
        if self._has_devices and self.current_action is ProfilerAction.RECORD_AND_SAVE:
            native.devices.wait()
        self._marks.mark(self, 0)
        try:
            self._call(native.record.dwell_profile_step)
        finally:
            self._marks.mark(self, 1)

    @staticmethod
    def prepare_trace() -> None:
        """Nothing has to be prepared."""

    def start_trace(self) -> None:
        """start(), as the base class of torch.profiler has it."""
        self.start()

    def stop_trace(self) -> None:
        """stop()"""
        self.stop()

    @property
    def step_num(self) -> int:
        """Steps so far."""
        return native.record.dwell_profile_step_num(self._made())

    @property
    def current_action(self) -> ProfilerAction:
        """What is done with the step under way."""
        return ProfilerAction(native.record.dwell_profile_action(self._made()))

    def add_metadata(self, key: str, value: str) -> None:
        """Metadata that goes into the trace and its exports, as text."""
        native.record.dwell_meta(native.encoded_text(key, "key"), native.encoded_text(value, "value"))

    def add_metadata_json(self, key: str, value: str) -> None:
        """Metadata that is JSON."""
        _json.loads(value)
        native.record.dwell_meta_json(native.encoded_text(key, "key"), native.encoded_text(value, "value"))

    preset_metadata_json = add_metadata_json

    def set_custom_trace_id_callback(self, callback: Any) -> None:
        """Refused: a trace of dwell is known by its file, see get_trace_id()."""
        raise NotImplementedError("dwell.profile: custom_trace_id_callback has no meaning here: "
                                  + _REFUSED["custom_trace_id_callback"])

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> None:
        """Refused: overlap a second profile in place of it."""
        raise NotImplementedError("dwell.profile: toggle_collection_dynamic is not offered: start "
                                  "and stop a second profile around the part instead")

    # ---- results -------------------------------------------------------------------------

    @property
    def trace(self) -> Any:
        """The trace that holds the result, opened on what this profile saw: for View. Its close() frees it
        before the profile and the lists of its events end."""
        if self._result is None:
            raise AssertionError("Profiler must be stopped before its results are read, and its "
                                 "schedule must have recorded a step")
        if self._trace is None and len(self._cycles) > 1:
            ids = ",".join(str(cycle.id) for cycle in self._cycles)
            self._trace = native.open_trace(self._result.path, native.Scope(profile=ids.encode()))
        elif self._trace is None:
            self._trace = native.open_result(self._result)
        return self._trace

    @property
    def profiler(self) -> Any:
        """The result with the names of torch.autograd.profiler.profile."""
        if self._profiler is None:
            self._profiler = importlib.import_module(".autograd", __package__).profile.of(self)
        return self._profiler

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList[FunctionEventAvg]:
        """An EventList of FunctionEventAvg: one for each operator and named range. The first call for a result warns of
        operators whose FLOPs were asked for and are not counted."""
        if self.with_flops and not self._has_warned:
            self._has_warned = True
            said = self._uncounted_flops()
            if said:
                warnings.warn(f"dwell.profile: {said} prof.view('flops') has all.", stacklevel=2)
        return averages(self.trace, group_by_input_shape, group_by_stack_n, group_by_overload_name, self._ranges)

    def _uncounted_flops(self):
        """The sentence of `dwell report --view flops`, if it names operators without a count."""
        try:
            head = _json.loads(self.view("flops").format("json"))["views"][0]["heads"][0]
        except native.Error:
            return None  # there are no operators
        return head if "; not counted: " in head else None

    def view(self, name: str, **options: Any) -> View:
        """A View of the result: "operators", "tree", "layers", "memory" ... with the options
        of `dwell report`: sort, limit, group_by. Beyond torch.profiler."""
        return View(self.trace, name, **options)

    def summary(self) -> dict[str, Any]:
        """A dict of what `dwell report --summary --format json` prints: verdicts with their
        evidence, parts of a step, what was not measured, losses. Beyond torch.profiler."""
        return _json.loads(self.trace.printed(native.read().dwell_trace_summary, b"json"))

    def _repr_html_(self):
        try:
            return self.view("calls", limit=20, ranges=self._ranges).format("html") if self._result else None
        except native.Error:
            return None  # nothing was recorded: a notebook shows the object's name

    def events(self) -> EventList[FunctionEvent]:
        """An EventList of FunctionEvent: each call."""
        if "_events" not in self.__dict__:
            self._events = events_of(self.trace, ranges=self._ranges)
        return self._events

    def export_chrome_trace(self, path: str | os.PathLike[str], use_python_export: bool = False) -> None:
        """Chrome's JSON of the last cycle, compressed when the name ends in .gz."""
        refuse_python_export(use_python_export)
        trace = native.open_result(self._result) if len(self._cycles) > 1 else self.trace
        trace.export(b"chrome", path)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Stacks with their time, a line each; needs with_stack."""
        self.trace.export(b"folded", path, metric=metric)

    def export_memory_timeline(self, path: str | os.PathLike[str], device: str | None = None) -> None:
        """The memory by category over time: .html and .svg a picture, .json the numbers of
        the memory view."""
        if not (self.record_shapes and self.profile_memory and self.with_stack):
            raise ValueError("record_shapes=True, profile_memory=True, with_stack=True required "
                             "for memory profiling.")
        if str(path).endswith((".html", ".svg")):
            self.trace.export(b"memory", path)
        else:
            numbers = self.view("memory").format("json")
            with open(os.fspath(path), "w", encoding="utf-8") as file:
                file.write(numbers)

    def export_flamegraph(self, path: str | os.PathLike[str], metric: str | None = None, title: str | None = None) -> None:
        """An interactive SVG of the call tree; beyond torch.profiler."""
        self.trace.export(b"flamegraph", path, metric=metric, title=title)

    def get_trace_id(self) -> str | None:
        """The trace's file and the profile's number in it."""
        return f"{self._result.path.decode()}#{self._result.id}" if self._result else None
