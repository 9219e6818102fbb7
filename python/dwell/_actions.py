"""What dwell.lightning's profilers stand on: Lightning's interface, and actions recorded by C.

Actions begin and end in the C probe where it was built (a tenth of what Lightning's own
profilers take), else through ctypes; stages and reports are libdwell-profiler's.
"""
import ctypes
import os
import re
import sys

from . import _native as native

_p = native.pointer


class _Options(ctypes.Structure):
    _fields_ = [("size", native.size_t), ("dirpath", native.text), ("filename", native.text),
                ("brief", native.boolean), ("line_restriction", ctypes.c_double),
                ("record_shapes", native.boolean), ("profile_memory", native.boolean),
                ("row_limit", ctypes.c_uint), ("sort_by", native.text),
                ("record_functions", native.text), ("profile", _p),
                ("port", ctypes.c_uint)]


_error_p = ctypes.POINTER(native._Error)
_FUNCTIONS = {
    "dwell_actions_create": (_p, native.text, ctypes.POINTER(_Options), _error_p),
    "dwell_actions_destroy": (None, _p),
    "dwell_actions_setup": (ctypes.c_int, _p, native.text, ctypes.c_int, native.text, _error_p),
    "dwell_actions_start": (None, _p, native.text),
    "dwell_actions_stop": (ctypes.c_int, _p, native.text, _error_p),
    "dwell_actions_summary": (ctypes.c_int, _p, _p, _error_p),
    "dwell_actions_teardown": (ctypes.c_int, _p, _error_p),
    "dwell_actions_result": (ctypes.c_int, _p, ctypes.POINTER(native.Result), _error_p),
}
actions = native.later("dwell-profiler", _FUNCTIONS, needs=native.read)


class Scope:
    """profile()'s block: an action is stopped only when its start succeeded."""

    def __init__(self, profiler, action):
        self._profiler, self._action = profiler, action

    def __enter__(self):
        self._profiler.start(self._action)
        return self._action

    def __exit__(self, *unused):
        self._profiler.stop(self._action)
        return False


class Profiler:
    """What a Trainer calls; to be derived from: start, stop, summary, teardown."""

    def __init__(self, dirpath=None, filename=None):
        self.dirpath, self.filename = dirpath, filename
        self._stage = self._local_rank = None

    @property
    def local_rank(self):
        return 0 if self._local_rank is None else self._local_rank

    def start(self, action_name):
        """An action begins."""

    def stop(self, action_name):
        """It ends."""

    def profile(self, action_name):
        """A context manager: its block is the action."""
        return Scope(self, action_name)

    def summary(self):
        """The report as text."""
        return ""

    def _prepare_filename(self, action_name=None, extension=".txt"):
        parts = [self._stage, self.filename, self._local_rank, action_name]
        name = "-".join(str(part) for part in parts if part is not None)
        name = re.sub(r'[\\/:*?"<>|\n\r\t]', "_", name)
        return (re.sub(r"_+", "_", name).strip() or "profile") + extension

    def describe(self):
        """Appends the report to its file, or prints it on rank 0; ends the stage."""
        text = self.summary()
        if text and self.filename and self.dirpath:
            os.makedirs(self.dirpath, exist_ok=True)
            with open(os.path.join(self.dirpath, self._prepare_filename()), "a",
                      encoding="utf-8") as file:
                file.write(text)
        elif text and self._local_rank in (None, 0):
            print(text, flush=True)
        self.teardown(stage=self._stage)

    def setup(self, stage, local_rank=None, log_dir=None):
        """A stage begins."""
        self._stage = None if stage is None else str(getattr(stage, "value", stage))
        self._local_rank = local_rank
        self.dirpath = self.dirpath or log_dir

    def teardown(self, stage=None):
        """It ends."""


class _Slow:
    """What the C probe has faster, where it was not built: start and stop of actions."""

    def __init__(self, handle):
        self._handle = handle

    def start(self, action_name):
        actions().dwell_actions_start(self._handle, encoded(action_name))

    def stop(self, action_name):
        try:
            native.check(actions().dwell_actions_stop, self._handle, encoded(action_name))
        except native.Error as error:
            raise ValueError(str(error)) from None

    def profile(self, action_name):
        return Scope(self, action_name)


def encoded(name):
    try:
        return str(name).encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return str(name).encode(errors="backslashreplace")


def _recorder(handle):
    """start, stop and profile of the C core's profiler `handle`, which must outlive it."""
    if native.python_probe is None:
        return _Slow(handle)
    library = actions()
    make = native.python_probe.dwell_python_recorder
    make.restype, make.argtypes = ctypes.py_object, [_p, _p, _p]
    return make(handle, *(ctypes.cast(function, _p) for function in
                          (library.dwell_actions_start, library.dwell_actions_stop)))


class Recorded(Profiler):
    """A profiler of the C core, by name."""

    _name = "simple"

    def __init__(self, dirpath=None, filename=None, **options):
        super().__init__(dirpath, filename)
        self._options = options
        self._native = self._recorder = None
        self._take_fast_path()

    def _is_own(self):
        """Whether no derived class wants to be asked for each action."""
        return all(getattr(type(self), name).__module__.startswith("dwell.")
                   for name in ("start", "stop", "profile"))

    def _take_fast_path(self):
        if self._is_own():
            self._core()
            self.start, self.stop = self._recorder.start, self._recorder.stop
            self.profile = self._recorder.profile

    def _core(self):
        if self._native is None:
            options = _Options(size=ctypes.sizeof(_Options), **self._options)
            self._native = native.check(actions().dwell_actions_create, self._name.encode(),
                                        ctypes.byref(options))
            self._recorder = _recorder(self._native)
        return self._native

    # Trainers are pickled on their way to other processes; what is recorded stays here.
    def __getstate__(self):
        state = {key: value for key, value in self.__dict__.items()
                 if key not in ("start", "stop", "profile")}
        return {**state, "_native": None, "_recorder": None}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._take_fast_path()

    @staticmethod
    def _ending(is_finalizing=sys.is_finalizing):
        # A default is there also when modules are empty already, at the interpreter's end.
        return is_finalizing()

    def __del__(self):
        if getattr(self, "_native", None) and not self._ending():
            actions().dwell_actions_destroy(self._native)
            self._native = None

    def start(self, action_name):
        """An action begins; any number may be open, in any thread."""
        self._core()
        self._recorder.start(action_name)

    def stop(self, action_name):
        """The innermost open one of that name ends; ValueError when there is none."""
        self._core()
        self._recorder.stop(action_name)

    def setup(self, stage, local_rank=None, log_dir=None):
        self.teardown()  # of a stage that an exception ended
        super().setup(stage, local_rank, log_dir)
        native.check(actions().dwell_actions_setup, self._core(), (self._stage or "run").encode(),
                     -1 if local_rank is None else local_rank, None)
        native.follow_gate()

    def summary(self):
        return native.printed(actions().dwell_actions_summary, self._core())

    def describe(self):
        self._end_stage()  # first: reading the trace is no part of it
        super().describe()

    def teardown(self, stage=None):
        super().teardown(stage)
        self._end_stage()

    def _end_stage(self):
        try:
            native.check(actions().dwell_actions_teardown, self._core())
        except native.Error as error:
            print(f"dwell: {error}", file=sys.stderr)
        native.follow_gate()
