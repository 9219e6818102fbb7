"""PyTorch-Ignite's time profilers, recorded by dwell's C core.

Drop-in: change the import and nothing else.

    from dwell.ignite import BasicTimeProfiler, HandlersTimeProfiler, Timer

A profiler that is attached stands in for the engine's `_fire_event`: handlers are called as
Ignite calls them, and each firing and call is timed in C. Nothing is added to the engine's
handlers. Under `dwell run` the same goes into the trace (`dwell report --view handlers`).
An index names the iteration as `engine.state.iteration` counts it, from 1; of EPOCH_STARTED,
EPOCH_COMPLETED, STARTED and COMPLETED the epoch.
"""
import functools
import itertools
from collections import OrderedDict
from time import perf_counter

from dwell import _ignite

__all__ = ["BasicTimeProfiler", "HandlersTimeProfiler", "Timer", "record_engines"]

_engine_numbers = itertools.count(1)
_OURS = {"run", "_fire_event", "_dwell_recorder", "__getstate__"}  # what a recorded engine has besides


def _plain_state(engine):
    """What a copy or a pickle of the engine takes: the engine as it was. The recorder is of this
    engine in this process, and the functions that stand in for others would run this engine."""
    getstate = getattr(type(engine), "__getstate__", None)  # object has one from Python 3.11 on
    state = getstate(engine) if getstate else dict(engine.__dict__)
    return {key: value for key, value in state.items() if key not in _OURS} if isinstance(state, dict) else state


def _recorder_of(engine, name=None, keep_times=True):
    """The engine's recorder; one an engine, whatever is attached to it."""
    from ignite.engine import Engine

    if not isinstance(engine, Engine):
        raise TypeError(f"Argument engine should be ignite.engine.Engine, but given {type(engine)}")
    recorder = engine.__dict__.get("_dwell_recorder")
    if recorder is not None:
        if keep_times:
            recorder.keep_times()
        return recorder
    if name is None:
        number = next(_engine_numbers)
        name = "engine" if number == 1 else f"engine {number}"
    recorder = _ignite.Recorder(engine, name, keep_times)
    plain_run = engine.run

    @functools.wraps(plain_run)
    def run(*args, **kwargs):
        recorder.enter_run()
        try:
            return plain_run(*args, **kwargs)
        finally:
            recorder.leave_run()

    engine.run = run
    engine._fire_event = recorder.fire
    engine._dwell_recorder = recorder
    engine.__getstate__ = functools.partial(_plain_state, engine)
    return recorder


def record_engines(engine_class=None):
    """Records every engine that is made from now on; `dwell run` calls it for a script."""
    if engine_class is None:
        from ignite.engine import Engine as engine_class

    plain = engine_class.__init__
    if hasattr(plain, "_dwell"):
        return

    @functools.wraps(plain)
    def init(self, *args, **kwargs):
        plain(self, *args, **kwargs)
        _recorder_of(self, keep_times=False)

    init._dwell = True
    engine_class.__init__ = init


class _Profiler:
    """What both profilers have in common: an engine's recorder."""

    def __init__(self):
        self._recorder = None

    def attach(self, engine, name=None):
        """Profiles the engine's runs from the next on; `name` is what traces call it. TypeError
        for what is no ignite.engine.Engine."""
        self._recorder = _recorder_of(engine, name)

    def __getstate__(self):
        return {**self.__dict__, "_recorder": None}

    def _attached(self):
        if self._recorder is None:
            raise RuntimeError(f"{type(self).__name__} is attached to no engine: call attach(engine) before the run")
        return self._recorder


# ---- events -----------------------------------------------------------------------------

_EVENTS = ("EPOCH_STARTED", "EPOCH_COMPLETED", "STARTED", "COMPLETED", "ITERATION_STARTED",
           "ITERATION_COMPLETED", "GET_BATCH_STARTED", "GET_BATCH_COMPLETED")
_PRINTED = ("STARTED", "EPOCH_STARTED", "ITERATION_STARTED", "ITERATION_COMPLETED", "EPOCH_COMPLETED", "COMPLETED")


def _basic_stat(stat):
    count, total, low, low_at, high, high_at, mean, std = stat
    if count == 0:
        return OrderedDict(total="not yet triggered")
    result = OrderedDict(total=total)
    if count > 1:
        result.update({"min/index": (low, low_at), "max/index": (high, high_at), "mean": mean, "std": std})
    return result


def _basic_text(stat):
    def text(value):
        if isinstance(value, tuple):
            return f"{value[0]:.5f}/{value[1]}"
        return value if isinstance(value, str) else f"{value:.5f}"

    return " | ".join(text(value) for value in stat.values())


class BasicTimeProfiler(_Profiler):
    """Times processing, dataflow and events, as ignite.handlers.BasicTimeProfiler does."""

    def get_results(self):
        """Sums of the run, in seconds, with the types of Ignite's: numbers, but `total_time` is a
        tensor. Raises RuntimeError before attach() and before a run."""
        import torch  # Ignite needs it  # pylint: disable=import-outside-toplevel

        processing, dataflow, events = self._attached().basic()
        stats = {event: _basic_stat(events[event][0]) for event in _EVENTS}
        stats["total_time"] = torch.tensor(sum(events[event][0][1] for event in _EVENTS), dtype=torch.float32)
        return OrderedDict(
            processing_stats=_basic_stat(processing),
            dataflow_stats=_basic_stat(dataflow),
            event_handlers_stats=stats,
            event_handlers_names={f"{event}_names": events[event][1] for event in _EVENTS},
        )

    def write_results(self, output_path):
        """CSV with a row for each iteration: epoch, iteration and seconds, 0.0 where nothing ran.
        OSError where the file cannot be written, RuntimeError before a run."""
        self._attached().write_basic(output_path)

    @staticmethod
    def print_results(results):
        """Prints what get_results() returned, and returns the text. ValueError for anything else."""
        if not isinstance(results, dict) or "event_handlers_stats" not in results:
            raise ValueError("print_results() takes what BasicTimeProfiler.get_results() returns, not a "
                             f"{type(results).__name__}")
        stats, names = results["event_handlers_stats"], results["event_handlers_names"]
        text = (
            "\n ----------------------------------------------------"
            "\n| Time profiling stats (in seconds):                 |"
            "\n ----------------------------------------------------"
            "\ntotal  |  min/index  |  max/index  |  mean  |  std"
            f"\n\nProcessing function:\n{_basic_text(results['processing_stats'])}"
            f"\n\nDataflow:\n{_basic_text(results['dataflow_stats'])}"
            f"\n\nEvent handlers:\n{stats['total_time']:.5f}\n"
        )
        for event in _PRINTED:
            text += f"\n- Events.{event}: {names[f'{event}_names']}\n{_basic_text(stats[event])}\n"
        print(text)
        return text


# ---- handlers ---------------------------------------------------------------------------


def _handler_stat(stat):
    count, total, low, low_at, high, high_at, mean, std = stat
    if count == 0:
        return ["not triggered", ("None", "None"), ("None", "None"), "None", "None"]
    return [round(total, 5), (round(low, 5), low_at), (round(high, 5), high_at), round(mean, 5),
            round(std, 5) if count > 1 else "None"]


def _seconds(value):
    return value if isinstance(value, str) else f"{value}s"


class HandlersTimeProfiler(_Profiler):
    """Times each handler of every event, as ignite.handlers.HandlersTimeProfiler does."""

    # Seconds. Ignite drops the calls of filtered handlers that are shorter. Here every call that
    # the filter lets through counts, and this changes nothing.
    EVENT_FILTER_THESHOLD_TIME = 0.0001

    def get_results(self):
        """A row for each handler: name, event, total, (min, index), (max, index), mean, std, in
        seconds rounded to 5 digits; then Total, Processing and Dataflow. Raises RuntimeError
        before attach() and before a run."""
        processing, dataflow, handlers = self._attached().handlers()
        rows = [[handler, event, *_handler_stat(stat)] for handler, event, stat in handlers]
        total = round(sum(stat[1] for _, _, stat in handlers), 5)
        return rows + [["Total", "", total, "", "", "", ""], ["Processing", "None", *_handler_stat(processing)],
                       ["Dataflow", "None", *_handler_stat(dataflow)]]

    def write_results(self, output_path):
        """CSV with a row for the n-th call of each handler, in seconds. OSError where the file
        cannot be written, RuntimeError before a run."""
        self._attached().write_handlers(output_path)

    @staticmethod
    def print_results(results):
        """Prints the table of what get_results() returned. ValueError for anything else."""
        if not isinstance(results, (list, tuple)) or len(results) < 3 or any(len(row) != 7 for row in results):
            raise ValueError("print_results() takes what HandlersTimeProfiler.get_results() returns, not a "
                             f"{type(results).__name__}")
        widths = [max(len(row[0]) for row in results) + 4, max(len(row[1]) for row in results) + 4]
        line = "  ".join("-" * width for width in widths + [14] * 5) + "  "

        def put(cells):
            print(f"{cells[0]:{widths[0]}}  {cells[1]:{widths[1]}}  "
                  + "".join(f"{cell:>14}  " for cell in cells[2:]))

        *rows, total, processing, dataflow = results
        print()
        print(line)
        put(["Handler", "Event Name", "Total(s)", "Min(s)/IDX", "Max(s)/IDX", "Mean(s)", "Std(s)"])
        print(line)
        for name, event, whole, low, high, mean, std in rows:
            put([name, event, str(whole), f"{low[0]}/{low[1]}", f"{high[0]}/{high[1]}", str(mean), str(std)])
        print(line)
        put([str(cell) for cell in total])
        print(line)
        for name, _, whole, low, high, mean, std in (processing, dataflow):
            print(f"{name} took total {_seconds(whole)} [min/index: {_seconds(low[0])}/{low[1]}, "
                  f"max/index: {_seconds(high[0])}/{high[1]}, mean: {_seconds(mean)}, std: {_seconds(std)}]")
        print()


# ---- a stopwatch ------------------------------------------------------------------------


class Timer:
    """The time between events, as ignite.handlers.Timer measures it.

    `total`: seconds while the timer was running, without the current stretch. `step_count`:
    calls of step(). `running`: whether it runs now. With `average`, value() is of one step.
    """

    def __init__(self, average=False):
        self._average = average
        self.reset()

    def attach(self, engine, start=None, pause=None, resume=None, step=None):
        """Calls reset(), pause(), resume() and step() at these events of the engine; by default
        the timer runs from STARTED to COMPLETED. Returns the timer."""
        from ignite.engine import Events

        for event, handler in ((start or Events.STARTED, self.reset), (pause or Events.COMPLETED, self.pause),
                               (resume, self.resume), (step, self.step)):
            if event is not None:
                engine.add_event_handler(event, handler)
        return self

    def reset(self, *args):
        """Starts anew from 0 and runs. Returns the timer."""
        self._start = perf_counter()
        self.total = 0.0
        self.step_count = 0.0
        self.running = True
        return self

    def pause(self, *args):
        """Stops; nothing when it is stopped."""
        if self.running:
            self.total += perf_counter() - self._start
            self.running = False

    def resume(self, *args):
        """Runs on; nothing when it runs."""
        if not self.running:
            self.running = True
            self._start = perf_counter()

    def value(self):
        """Seconds so far; with `average`, of one step."""
        total = self.total + (perf_counter() - self._start if self.running else 0.0)
        return total / max(self.step_count, 1.0) if self._average else total

    def step(self, *args):
        """Counts a step."""
        self.step_count += 1.0
