"""Lightning's profilers, recorded by dwell's C core.

    from dwell.lightning import SimpleProfiler
    trainer = Trainer(profiler=SimpleProfiler(dirpath=".", filename="perf"))

Actions are ranges of a trace, so that they nest, recur and run in threads, and every view of
`dwell report` knows them. A report counts one stage (fit, validate, test, predict), and its
percentages are of that stage's time. A profiler of one's own derives from Profiler, as in
Lightning.
"""
import ctypes
import os
import re
import sys

from . import _native as native, xla

__all__ = ["AdvancedProfiler", "BaseProfiler", "PassThroughProfiler", "Profiler",
           "PyTorchProfiler", "SimpleProfiler", "XLAProfiler"]

_p = native.pointer


class _Options(ctypes.Structure):
    _fields_ = [("size", native.size_t), ("dirpath", native.text), ("filename", native.text),
                ("brief", native.boolean), ("line_restriction", ctypes.c_double),
                ("record_shapes", native.boolean), ("profile_memory", native.boolean),
                ("row_limit", ctypes.c_uint), ("sort_by", native.text), ("port", ctypes.c_uint)]


_E_STATE = -10
_error_p = ctypes.POINTER(native._Error)
_FUNCTIONS = {
    "dwell_actions_create": (_p, native.text, ctypes.POINTER(_Options), _error_p),
    "dwell_actions_destroy": (None, _p),
    "dwell_actions_setup": (ctypes.c_int, _p, native.text, ctypes.c_int, native.text, _error_p),
    "dwell_actions_start": (None, _p, native.text),
    "dwell_actions_stop": (ctypes.c_int, _p, native.text, _error_p),
    "dwell_actions_summary": (ctypes.c_int, _p, _p, _error_p),
    "dwell_actions_teardown": (ctypes.c_int, _p, _error_p),
}
_library = None


def _actions():
    global _library
    if _library is None:
        native.read()  # which it needs
        _library = native._load("dwell-profiler", _FUNCTIONS, ctypes.RTLD_LOCAL)
    return _library


class _Scope:
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
        return _Scope(self, action_name)

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


BaseProfiler = Profiler


class PassThroughProfiler(Profiler):
    """Nothing."""


class _Recorded(Profiler):
    """A profiler of the C core, by name."""

    _name = "simple"

    def __init__(self, dirpath=None, filename=None, **options):
        super().__init__(dirpath, filename)
        self._options = options
        self._native = None

    def _core(self):
        if self._native is None:
            options = _Options(size=ctypes.sizeof(_Options), **self._options)
            self._native = native.check(_actions().dwell_actions_create, self._name.encode(),
                                        ctypes.byref(options))
        return self._native

    # Trainers are pickled on their way to other processes; what is recorded stays here.
    def __getstate__(self):
        return {**self.__dict__, "_native": None}

    def __del__(self):
        if getattr(self, "_native", None) and _library is not None and not sys.is_finalizing():
            _library.dwell_actions_destroy(self._native)
            self._native = None

    def start(self, action_name):
        _actions().dwell_actions_start(self._core(), str(action_name).encode(errors="surrogateescape"))

    def stop(self, action_name):
        name = str(action_name).encode(errors="surrogateescape")
        try:
            native.check(_actions().dwell_actions_stop, self._core(), name)
        except native.Error as error:
            raise ValueError(str(error)) from None

    def setup(self, stage, local_rank=None, log_dir=None):
        self.teardown()  # of a stage that an exception ended
        super().setup(stage, local_rank, log_dir)
        native.check(_actions().dwell_actions_setup, self._core(), (self._stage or "run").encode(),
                     -1 if local_rank is None else local_rank, None)

    def summary(self):
        return native.printed(_actions().dwell_actions_summary, self._core())

    def describe(self):
        self.teardown(self._stage)  # first: reading the trace is no part of the stage
        super().describe()

    def teardown(self, stage=None):
        super().teardown(stage)
        try:
            native.check(_actions().dwell_actions_teardown, self._core())
        except native.Error as error:
            print(f"dwell: {error}", file=sys.stderr)


class SimpleProfiler(_Recorded):
    """Calls and durations of actions."""

    def __init__(self, dirpath=None, filename=None, extended=True):
        super().__init__(dirpath, filename, brief=not extended)
        self.extended = extended


class AdvancedProfiler(_Recorded):
    """Functions within each action: those that something records, as `dwell run --functions`
    does with Python's."""

    _name = "advanced"

    def __init__(self, dirpath=None, filename=None, line_count_restriction=1.0):
        restriction = float(line_count_restriction)
        if isinstance(line_count_restriction, int) and line_count_restriction == 1:
            restriction = 1.5  # a row, where 1.0 is all
        super().__init__(dirpath, filename, line_restriction=restriction)


class PyTorchProfiler(_Recorded):
    """Operators of a stage, of a script under `dwell run`."""

    _name = "operators"

    def __init__(self, dirpath=None, filename=None, group_by_input_shapes=False, row_limit=20,
                 sort_by_key=None, profile_memory=False):
        super().__init__(dirpath, filename, record_shapes=group_by_input_shapes,
                         profile_memory=profile_memory, row_limit=row_limit,
                         sort_by=native.encoded(sort_by_key))


class XLAProfiler(_Recorded):
    """Captures of the trainer, as TensorBoard's CAPTURE PROFILE asks for them; no report.

    From the first training_step, backward, validation_step, test_step or predict_step on
    they are served at `port` of this machine, until the program ends. Nothing is recorded
    until a capture asks.
    """

    _name = "xla"
    RECORD_FUNCTIONS = {"training_step", "backward", "validation_step", "test_step", "predict_step"}
    _server = None  # one of a process

    def __init__(self, port=9012):
        super().__init__(port=port)
        self.port = port

    def start(self, action_name):
        if XLAProfiler._server is None and str(action_name).rsplit(".", 1)[-1] in self.RECORD_FUNCTIONS:
            try:
                XLAProfiler._server = xla.start_server(self.port)
            except native.Error as error:
                if error.code != _E_STATE:
                    raise
                XLAProfiler._server = True  # by the program itself
        super().start(action_name)
