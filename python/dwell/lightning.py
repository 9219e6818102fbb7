"""Lightning's profilers, recorded by dwell's C core.

    from dwell.lightning import SimpleProfiler
    trainer = Trainer(profiler=SimpleProfiler(dirpath=".", filename="perf"))

Actions are ranges of a trace, so that they nest, recur and run in threads, and every view of
`dwell report` knows them. A report counts one stage (fit, validate, test, predict), and its
percentages are of that stage's time. Without a Trainer, actions count from the first one to
describe(). A profiler of one's own derives from Profiler, as in Lightning. `dwell run` records
the actions of a script that has none of these, too.
"""
from __future__ import annotations

import collections
import contextlib
import functools
import marshal
import os
import pstats
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _native as native, nvtx, xla
from ._actions import Path, Profiler, Recorded, Scope, actions, encoded, folder_of, warned
from .events import EventList, FunctionEvent, events_of, ranges_of
from .profiler import (ProfilerAction, begin_step, end_step, profile, record_function,
                       tensorboard_trace_handler)
from .views import View

if TYPE_CHECKING:
    from torch.nn import Module

_E_NO_DATA, _E_STATE = -9, -10  # DWELL_E_NO_DATA, DWELL_E_STATE
_LAYER, _ACTION = 3, 5  # enum dwell_category

__all__ = ["AdvancedProfiler", "BaseProfiler", "PassThroughProfiler", "Profiler",
           "PyTorchProfiler", "RegisterRecordFunction", "SimpleProfiler", "XLAProfiler"]

BaseProfiler = Profiler


class PassThroughProfiler(Profiler):
    """Nothing."""


def _wait_for_device():
    """Until the process's CUDA device has done what it was given; where there is none, nothing."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()


class _Durations(dict):
    """Seconds of each call, by action. Read from the trace: nothing can be put in."""

    def __missing__(self, action_name):
        return []

    def _refuse(self, *unused, **named):
        raise TypeError("recorded_durations is a copy of what the trace holds and cannot be changed: "
                        "for durations of one's own take a copy, dict(profiler.recorded_durations); to "
                        "begin anew call profiler.setup(stage)")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self):
        return dict, (dict(self),)


class SimpleProfiler(Recorded):
    """Calls and durations of actions.

    `synchronize`: each action begins and ends with a wait for the CUDA device, so that its
    duration is the device's work too. Without, durations are the host's, as Lightning's are:
    what an action launches ends in a later one. The waits make the program slower.
    """

    def __init__(self, dirpath: Path | None = None, filename: str | None = None, extended: bool = True,
                 synchronize: bool = False) -> None:
        self.extended, self.synchronize = extended, synchronize
        super().__init__(dirpath, filename, brief=not extended)

    def _is_own(self):
        return not self.synchronize and super()._is_own()

    def start(self, action_name):
        """An action begins; any number may be open, in any thread."""
        if self.synchronize:
            _wait_for_device()
        super().start(action_name)

    def stop(self, action_name):
        """The innermost open one of that name ends; ValueError when this thread started none."""
        if self.synchronize:
            _wait_for_device()
        super().stop(action_name)

    @property
    def recorded_durations(self) -> dict[str, list[float]]:
        """Seconds of each call that has ended, by action and in the order of their ends: of the
        stage so far, or of the last one. Each access reads the trace; keep the result."""
        result, found = self._result(), {}
        if result is not None:
            with native.opened(result.path, native.Scope(profile_id=result.id)) as trace:
                for name, start_ns, end_ns in ranges_of(trace, _ACTION):
                    found.setdefault(name, []).append((end_ns - start_ns) / 1e9)
        return _Durations(found)


_Entry = collections.namedtuple(
    "profiler_entry", "code callcount reccallcount totaltime inlinetime calls")


class ActionFunctions:
    """The functions that ran within an action, with the methods of cProfile.Profile that read:
    pstats.Stats() takes it. Times are seconds."""

    stats: dict[tuple[str, int, str], tuple[int, int, float, float, dict[Any, Any]]]

    def __init__(self, functions: dict[tuple[str, int, str], Any]) -> None:
        self._functions, self.stats = functions, {}

    def create_stats(self) -> None:
        """Fills `stats`, as pstats.Stats() asks for: {(file, line, function): (primitive calls,
        calls, own time, total time, callers)}."""
        self.stats = dict(self._functions)

    def getstats(self) -> list[Any]:
        """An entry for each function; of callees (`calls`) there are none."""
        return [_Entry(pstats.func_std_string(place), calls, calls - primitive, total, own, None)
                for place, (primitive, calls, own, total, _) in self._functions.items()]

    def dump_stats(self, file: Path) -> None:
        """Writes the file that pstats and snakeviz read."""
        with open(file, "wb") as output:
            marshal.dump(self._functions, output)

    def print_stats(self, sort: str | int = -1) -> None:
        """Prints the table of pstats."""
        pstats.Stats(self).strip_dirs().sort_stats(sort).print_stats()


class _ProfiledActions(Mapping):
    """The functions of each action of a stage, read from the trace when they are asked for. An
    action that called none has one entry, of its own calls and time."""

    def __init__(self, result):
        self._result = result
        self._actions = _actions_of(result) if result is not None else {}

    def __iter__(self):
        return iter(self._actions)

    def __len__(self):
        return len(self._actions)

    def __getitem__(self, action_name):
        calls, seconds = self._actions[action_name]
        scope = native.Scope(profile_id=self._result.id, action=encoded(action_name))
        with tempfile.TemporaryDirectory() as folder, native.opened(self._result.path, scope) as trace:
            path = os.path.join(folder, "functions")
            try:
                trace.export(b"pstats", path)
            except native.Error as error:
                if error.code != _E_NO_DATA:
                    raise
                # It called no function, and pstats reads no empty file: its own time.
                return ActionFunctions({("~", 0, f"<{action_name}>"): (calls, calls, seconds, seconds, {})})
            with open(path, "rb") as file:
                return ActionFunctions(marshal.load(file))


class AdvancedProfiler(Recorded):
    """Functions within each action: Python's, and those of C that the functions probe records.

    `line_count_restriction`: rows an action; a float below 1 is a share of them, 1.0 all.
    `dump_stats`: also a file an action that pstats reads, STAGE-FILENAME-RANK-ACTION.prof.
    """

    _name = "advanced"

    def __init__(self, dirpath: Path | None = None, filename: str | None = None, line_count_restriction: float = 1.0,
                 dump_stats: bool = False) -> None:
        restriction = float(line_count_restriction)
        if not restriction >= 0:
            raise ValueError(f"line_count_restriction {line_count_restriction}: give a number of rows, as 20, or "
                             "a share of them, as 0.1")
        if isinstance(line_count_restriction, int) and line_count_restriction == 1:
            restriction = 1.5  # a row, where 1.0 is all
        self.line_count_restriction = line_count_restriction
        super().__init__(dirpath, filename, line_restriction=restriction)
        self.dump_stats = dump_stats

    @property
    def profiled_actions(self) -> Mapping[str, ActionFunctions]:
        """The functions of each action, as cProfile.Profile has them: of the stage so far, or of
        the last one. Each access reads the trace."""
        return _ProfiledActions(self._result())

    def _writes_files(self):
        return self.dump_stats or super()._writes_files()

    def describe(self):
        """As Profiler.describe(); with `dump_stats` writes the files too."""
        self._end_stage()
        if self.dump_stats:
            with warned("dump_stats' files"), folder_of(self.dirpath) as folder:
                for action, functions in self.profiled_actions.items():
                    functions.dump_stats(os.path.join(folder, self._prepare_filename(action, ".prof")))
        super().describe()


def _actions_of(result):
    """(calls, seconds) of each action of a stage, by name."""
    with native.opened(result.path, native.Scope(profile_id=result.id)) as trace:
        return {row["name"]: (row["calls"], row["total_ns"] / 1e9)
                for row in View(trace, "actions").rows() if row["category"] == "action"}


_SORT_KEYS = {prefix + key for key in ("cpu_time_total", "cuda_time_total", "device_time_total",
                                       "cpu_memory_usage", "cuda_memory_usage", "device_memory_usage")
              for prefix in ("", "self_")} | {"cpu_time", "cuda_time", "device_time", "count"}
_WIDTH_KEYS = ("max_name_column_width", "max_src_column_width", "max_shapes_column_width")
_TABLE_KEYS = _WIDTH_KEYS + ("top_level_events_only", "header", "time_unit")
_STEPS = {"fit": "training_step", "validate": "validation_step", "test": "test_step",
          "predict": "predict_step"}


def _checked_table(arguments):
    """Lightning's table_kwargs as options of a layout."""
    for key in arguments or ():
        if key in ("sort_by", "row_limit"):
            raise KeyError(f"Found invalid table_kwargs key: {key}. This is already a positional "
                           "argument of the Profiler.")
        if key not in _TABLE_KEYS:
            raise KeyError(f"Found invalid table_kwargs key: {key}. Should be within "
                           f"{set(_TABLE_KEYS)}.")
    given = dict(arguments or {})
    return {"top_level": given.get("top_level_events_only", False), "header": given.get("header"),
            "time_unit": given.get("time_unit"),
            "widths": native.column_widths(**{key: given[key] for key in _WIDTH_KEYS if key in given})}


class _Step:
    """The block of the action that is a step."""

    def __init__(self, profiler, scope):
        self._profiler, self._scope = profiler, scope

    def __enter__(self):
        return self._scope.__enter__()

    def __exit__(self, *exception):
        self._scope.__exit__(*exception)
        self._profiler._step()  # pylint: disable=protected-access


class PyTorchProfiler(Recorded):
    """Operators of each action that is a step or a backward; a stage is a dwell.profile.

    `record_functions`: names of further actions that get a table. `schedule`: of the stage's
    own steps (in a fit the training steps), from 0; the report is of the last cycle, and each
    cycle goes to on_trace_ready, whose default writes a Chrome trace (`export_to_chrome`) and
    stacks by `metric` (`export_to_flame_graph`) into `dirpath`. Without a schedule all is
    recorded. `sort_by_key` is any column of PyTorch's table, `table_kwargs` the other
    arguments of EventList.table(). `record_module_names`: `function_events` has the calls of
    modules too; they are layers of the trace either way. `emit_nvtx=True`: nothing is recorded;
    actions, modules and operators are NVTX ranges for the tool that the program runs under.
    """

    AVAILABLE_SORT_KEYS, STEP_FUNCTIONS = _SORT_KEYS, set(_STEPS.values())
    _name = "actions"  # alone: the report is made here

    def __new__(cls, *arguments: Any, emit_nvtx: bool = False, **_named: Any) -> PyTorchProfiler:
        emits = emit_nvtx or len(arguments) > 3 and arguments[3]
        return super().__new__(_EmittingProfiler if emits and cls is PyTorchProfiler else cls)

    def __init__(self, dirpath: Path | None = None, filename: str | None = None, group_by_input_shapes: bool = False,
                 emit_nvtx: bool = False, export_to_chrome: bool = True, row_limit: int = 20, sort_by_key: str | None = None,
                 record_module_names: bool = True, table_kwargs: Mapping[str, Any] | None = None, *,
                 record_functions: Iterable[str] = (), schedule: Callable[[int], Any] | None = None,
                 on_trace_ready: Callable[[profile], Any] | None = None, activities: Iterable[Any] | None = None,
                 record_shapes: bool = False, profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, export_to_flame_graph: bool = False, metric: str = "self_cpu_time_total") -> None:
        if emit_nvtx and not isinstance(self, _EmittingProfiler):
            raise ValueError("emit_nvtx=True must be given to PyTorchProfiler itself, by its name and not to a "
                             "class that is derived from it")
        if sort_by_key is not None and sort_by_key not in _SORT_KEYS:
            raise ValueError(f"Found sort_by_key: {sort_by_key}. Should be within {_SORT_KEYS}. ")
        if schedule is not None and (not callable(schedule) or getattr(
                schedule(0), "name", None) not in ProfilerAction.__members__):
            raise ValueError("schedule should be a callable that gives a ProfilerAction for a step, "
                             "as dwell.schedule() and torch.profiler.schedule() return")
        self._table = dict(_checked_table(table_kwargs), sort=sort_by_key, limit=row_limit,
                           group_by="shape" if group_by_input_shapes else None)
        self._record_functions = sorted(record_functions or ())
        self._schedule, self._ready = schedule, on_trace_ready or self._export
        self._profile_options = dict(
            activities=activities, record_shapes=record_shapes or group_by_input_shapes,
            profile_memory=profile_memory, with_stack=with_stack or export_to_flame_graph,
            with_flops=with_flops, with_modules=with_modules)
        self._to_chrome, self._to_stacks, self._metric = export_to_chrome, export_to_flame_graph, metric
        self._record_module_names, self._modules = record_module_names, {}
        self._profile = self._ended = self._step_action = self._events = None
        self._discards = False
        super().__init__(dirpath, filename)

    def _take_fast_path(self):
        if self._schedule is None:
            super()._take_fast_path()

    def __getstate__(self):
        return {**super().__getstate__(), "_profile": None, "_ended": None, "_events": None}

    def profile(self, action_name):
        """A context manager: its block is the action."""
        scope = super().profile(action_name)
        return _Step(self, scope) if self._is_own() and self._is_step(action_name) else scope

    def stop(self, action_name):
        super().stop(action_name)
        if self._is_step(action_name):
            self._step()

    def _is_step(self, action_name):
        return self._step_action is not None and (
            action_name.rpartition(".")[2] == self._step_action)

    def _step(self):
        if self._profile is not None:
            self._profile.step()

    def _start_stage(self):
        self._step_action = _STEPS.get(self._stage) if self._schedule else None
        self._events, self._discards = None, False
        self._profile = profile(name=self._stage or "run", schedule=self._schedule,
                                on_trace_ready=self._on_ready, **self._profile_options)
        self._profile.does_not_mark_steps()
        self._profile.start()
        self._profile.add_metadata("Framework", "pytorch-lightning")
        with contextlib.suppress(AttributeError, ReferenceError):  # without a Trainer
            self._modules = {name: f"{type(module).__module__}.{type(module).__name__}: {name}"
                             for name, module in self._lightning_module.named_modules() if name}

    def _stop_stage(self, quiet, discard):
        ended, self._profile = self._profile, None
        self._step_action = None
        if ended is not None:
            self._discards = discard
            ended.stop()
            self._ended = None if discard else ended

    def _on_ready(self, prof):
        if not self._discards:
            self._ready(prof)

    def _result(self):
        shown = self._profile or self._ended
        return shown and shown._result  # pylint: disable=protected-access

    @property
    def profiler(self) -> profile | None:
        """The dwell.profile of the stage under way, or None."""
        return self._profile

    @property
    def function_events(self) -> EventList[FunctionEvent] | None:
        """Each call of the last stage (under a schedule: of its last cycle) as an EventList:
        operators, "[pl][profile]ACTION" and "[pl][module]CLASS: NAME". None before the first
        stage has ended."""
        if self._events is None and self._result() is not None:
            shown = self._profile or self._ended
            ranges = "named,steps,actions" if self._schedule else "named,actions"
            self._events = events_of(shown.trace, frozenset({_ACTION, _LAYER} if self._record_module_names else {_ACTION}),
                                     ranges)
            for event in self._events:
                if event.category == _ACTION:
                    event.name = event.trace_name = f"[pl][profile]{event.name}"
                elif event.category == _LAYER:
                    event.name = event.trace_name = f"[pl][module]{self._module_label(event)}"
        return self._events

    def _module_label(self, layer):
        """A layer's name is its path, of which the model's own class is the first part."""
        name = layer.name.partition(".")[2]
        return self._modules.get(name) or f"{layer.overload_name}: {name or layer.name}"

    def _writes_files(self):
        return self._to_chrome or self._to_stacks or super()._writes_files()

    def _export(self, prof):
        """on_trace_ready, where the program has none."""
        if not self.dirpath or not (self._to_chrome or self._to_stacks):
            return
        with warned("the Chrome trace or the stacks"), folder_of(self.dirpath) as folder:
            if self._to_chrome:
                tensorboard_trace_handler(folder, self._prepare_filename(extension=""))(prof)
            if self._to_stacks:
                prof.export_stacks(os.path.join(folder, self._prepare_filename(extension=".stack")), self._metric)

    def summary(self):
        """The report of the last stage; "" where nothing was recorded."""
        shown = self._profile or self._ended
        try:
            trace = shown.trace if shown else None
        except AssertionError:  # no step was recorded
            trace = None
        if trace is None:
            return ""
        layout = ":".join(["lightning-pytorch", ",".join(self._record_functions)]).rstrip(":")
        return trace.layout(native.encoded(layout), native.view_options(**self._table))


class _EmittingProfiler(PyTorchProfiler):
    """PyTorchProfiler(emit_nvtx=True): a stage is a block of dwell.emit_nvtx."""

    _emitting = _modules_emitted = None

    def setup(self, stage, local_rank=None, log_dir=None):
        self.teardown()
        Profiler.setup(self, stage, local_rank, log_dir)
        self._begin()

    def teardown(self, stage=None):
        Profiler.teardown(self, stage)
        hooks, self._modules_emitted = self._modules_emitted, None
        block, self._emitting = self._emitting, None
        if hooks is not None:
            hooks.__exit__(None, None, None)
        if block is not None:
            block.__exit__(None, None, None)

    def __getstate__(self):
        return {**super().__getstate__(), "_emitting": None, "_modules_emitted": None}

    def _begin(self):
        self._emitting = nvtx.emit_nvtx()
        self._emitting.__enter__()
        if self._record_module_names:
            with contextlib.suppress(AttributeError, ReferenceError):  # without a Trainer
                self._modules_emitted = RegisterRecordFunction(self._lightning_module)
                self._modules_emitted.__enter__()

    def _actions(self):
        if not hasattr(_emitted, "open"):
            _emitted.open = []
        return _emitted.open

    def start(self, action_name):
        if self._emitting is None:
            self._begin()
        scope = record_function(f"[pl][profile]{action_name}")
        scope.__enter__()
        self._actions().append((self, action_name, scope))

    def stop(self, action_name):
        opened = self._actions()
        for at in range(len(opened) - 1, -1, -1):
            if opened[at][:2] == (self, action_name):
                opened.pop(at)[2].__exit__(None, None, None)
                return
        raise ValueError(f"Attempting to stop recording an action ({action_name}) which was never started.")

    def profile(self, action_name):
        return Scope(self, action_name)

    def summary(self):
        """Nothing is recorded."""
        return ""


_emitted = threading.local()  # `open`: the actions that are open in the thread, of all profilers


class RegisterRecordFunction:
    """Within its block each call of the model's modules is a range "[pl][module]CLASS: NAME"."""

    def __init__(self, model: Module) -> None:
        self._model, self._hooks, self._open = model, [], []

    def __enter__(self) -> RegisterRecordFunction:
        for name, module in self._model.named_modules():
            if name:
                kind = type(module)
                label = f"[pl][module]{kind.__module__}.{kind.__name__}: {name}"
                self._hooks += [module.register_forward_pre_hook(self._begin(label)),
                                module.register_forward_hook(self._end)]
        return self

    def _begin(self, label):
        def begin(_module, _arguments):
            self._open.append(record_function(label))
            self._open[-1].__enter__()
        return begin

    def _end(self, _module, _arguments, result):
        self._open.pop().__exit__(None, None, None)
        return result

    def __exit__(self, *exception: object) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()


class XLAProfiler(Recorded):
    """Captures of the trainer, as TensorBoard's CAPTURE PROFILE asks for them; no report.

    From the first training_step, backward, validation_step, test_step or predict_step on
    they are served at `port` of this machine, until the program ends. Nothing is recorded
    until a capture asks. Raises dwell.Error, which says the remedy, when the port is in use.

    Steps of a fit are those that dwell finds in its loop, with their wait for data. In the
    other stages each validation_step, test_step and predict_step is a step, as in Lightning.
    From the first one on dwell looks for no steps in this process, and then each
    run_training_batch of a fit is one.
    """

    _name = "xla"
    STEP_FUNCTIONS = {"validation_step", "test_step", "predict_step"}
    RECORD_FUNCTIONS = {"training_step", "backward", "validation_step", "test_step", "predict_step"}
    _server = None  # one of a process
    _marks = False  # of this process: steps have been marked

    def __init__(self, port: int = 9012) -> None:
        if not 0 <= port <= 65535:
            raise ValueError(f"port {port}: give a number from 1 to 65535, or 0 for any that is free")
        super().__init__(port=port)
        self.port = port
        self._step_action = None

    def _take_fast_path(self):
        """Each action is looked at: it may start the server, or be a step."""

    def _want_stage(self, action_name):
        """Nothing is recorded until a capture asks: there is no stage to begin."""
        self._core()

    def profile(self, action_name):
        """A context manager: its block is the action."""
        return Profiler.profile(self, action_name)

    def _is_step(self, hook):
        if self._stage == "fit":
            return XLAProfiler._marks and hook == "run_training_batch"
        return hook in self.STEP_FUNCTIONS

    def start(self, action_name):
        """An action begins; any number may be open, in any thread."""
        hook = str(action_name).rsplit(".", 1)[-1]
        if XLAProfiler._server is None and hook in self.RECORD_FUNCTIONS:
            try:
                XLAProfiler._server = xla.start_server(self.port)
            except native.Error as error:
                if error.code != _E_STATE:
                    raise
                XLAProfiler._server = True  # by the program itself
        if self._step_action is None and self._is_step(hook):
            XLAProfiler._marks = True
            self._step_action = action_name
            begin_step()
        super().start(action_name)

    def stop(self, action_name):
        """The innermost open one of that name ends; ValueError when this thread started none."""
        super().stop(action_name)
        if self._step_action is not None and action_name == self._step_action:
            self._step_action = None
            end_step()


# ---- scripts under `dwell run` --------------------------------------------------------------


class _Beside(Recorded):
    """Records the actions of another profiler; no report."""

    _name = "actions"

    def _want_stage(self, action_name):
        """Outside of stages, actions are in the trace without one."""
        self._core()


def record_profilers(base: type) -> None:
    """Called by the probe with Lightning's base class of profilers once it is imported: actions
    and stages of every trainer are recorded, whatever its profiler does."""
    try:
        actions()
    except ImportError as error:
        print(f"dwell: Lightning's actions are not recorded: {error}", file=sys.stderr)
        return
    beside, setup, teardown, inside = _Beside(), base.setup, base.teardown, threading.local()

    def once(outer, inner):
        """outer's call runs `inner`; what that calls of its base class is no action more."""
        @functools.wraps(outer)
        def call(self, action_name):
            if getattr(inside, "a_call", False):
                return outer(self, action_name)
            inside.a_call = True
            try:
                return inner(outer, self, action_name)
            finally:
                inside.a_call = False
        return call

    def start(theirs, self, action_name):
        theirs(self, action_name)
        beside.start(action_name)

    def stop(theirs, self, action_name):
        with contextlib.suppress(ValueError):  # theirs to say
            beside.stop(action_name)
        theirs(self, action_name)

    def watch(kind):
        for name, ours in (("start", start), ("stop", stop)):
            if name in vars(kind):
                setattr(kind, name, once(vars(kind)[name], ours))

    def watch_new(kind, **named):
        super(base, kind).__init_subclass__(**named)
        watch(kind)

    def setup_both(self, stage, *arguments, **named):
        beside.setup(stage)
        return setup(self, stage, *arguments, **named)

    def teardown_both(self, *arguments, **named):
        beside.teardown()
        return teardown(self, *arguments, **named)

    base.__init_subclass__ = classmethod(watch_new)
    base.setup, base.teardown = functools.wraps(setup)(setup_both), functools.wraps(teardown)(teardown_both)
    there = base.__subclasses__()
    for kind in there:
        watch(kind)
        there += kind.__subclasses__()
