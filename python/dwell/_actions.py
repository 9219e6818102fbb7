"""What dwell.lightning's profilers stand on: Lightning's interface, and actions recorded by C.

Actions begin and end in the C probe where it was built (a tenth of what Lightning's own
profilers take), else through ctypes; stages and reports are libdwell-lightning's.
"""
from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import re
import sys
import tempfile
import threading
import warnings
from contextlib import AbstractContextManager
from typing import Union

from . import _native as native

_p = native.pointer
Path = Union[str, "os.PathLike[str]"]


class _Options(ctypes.Structure):
    _fields_ = [("size", native.size_t), ("dirpath", native.text), ("filename", native.text),
                ("brief", native.boolean), ("line_restriction", ctypes.c_double),
                ("record_shapes", native.boolean), ("profile_memory", native.boolean),
                ("row_limit", ctypes.c_uint), ("sort_by", native.text),
                ("record_functions", native.text), ("profile", _p),
                ("port", ctypes.c_uint)]


class Core(native.Owned):
    """A struct dwell_lightning_profiler."""
    __slots__ = ()

    @staticmethod
    def _destroy(address):
        actions().dwell_lightning_destroy(address)


_error_p = ctypes.POINTER(native._Error)
_FUNCTIONS = {
    "dwell_lightning_create": (_p, native.text, ctypes.POINTER(_Options), _error_p),
    "dwell_lightning_destroy": (None, _p),
    "dwell_lightning_setup": (ctypes.c_int, Core, native.text, ctypes.c_int, native.text, _error_p),
    "dwell_lightning_start": (None, Core, native.text),
    "dwell_lightning_stop": (ctypes.c_int, Core, native.text, _error_p),
    "dwell_lightning_summary": (ctypes.c_int, Core, _p, _error_p),
    "dwell_lightning_teardown": (ctypes.c_int, Core, _error_p),
    "dwell_lightning_result": (ctypes.c_int, Core, ctypes.POINTER(native.Result), _error_p),
}
actions = native.later("dwell-lightning", _FUNCTIONS, needs=native.read)


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


def _log(text):
    """Where Lightning's own reports go: to the logger of the Lightning that is imported. Without
    one, to standard output."""
    for package in ("lightning.pytorch", "pytorch_lightning"):
        if package in sys.modules:
            logging.getLogger(package + ".profilers.profiler").info(text)
            return
    print(text, flush=True)


def _is_remote(dirpath):
    """"s3://bucket/folder": an address that fsspec knows, not a folder of this machine."""
    return "://" in str(dirpath)


def _remote(dirpath):
    """fsspec's file system and path of an address."""
    import fsspec  # Lightning needs it  # pylint: disable=import-outside-toplevel

    return fsspec.core.url_to_fs(str(dirpath))


@contextlib.contextmanager
def folder_of(dirpath):
    """A folder of this machine for what C writes into `dirpath`: that folder itself, or one whose
    files go to that address when the block ends."""
    if not _is_remote(dirpath):
        os.makedirs(dirpath or ".", exist_ok=True)
        yield str(dirpath or ".")
        return
    files, path = _remote(dirpath)
    with tempfile.TemporaryDirectory() as folder:
        yield folder
        files.makedirs(path, exist_ok=True)
        for name in os.listdir(folder):
            files.put_file(os.path.join(folder, name), f"{path.rstrip('/')}/{name}")


def _check_folder(dirpath):
    """OSError where files cannot be written to `dirpath`: before a training and not after it."""
    there = os.path.abspath(dirpath)
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    if not os.path.isdir(there):
        raise NotADirectoryError(f"dirpath {dirpath}: {there} is not a folder; give another dirpath")
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(f"dirpath {dirpath}: nothing may be written to {there}; give another dirpath")


class Profiler:
    """What a Trainer calls, and the base of a profiler of one's own, as in Lightning: override
    start(), stop(), summary() and teardown().

    `dirpath` and `filename`: the report is appended to DIRPATH/STAGE-FILENAME-RANK.txt. Without
    `dirpath` a Trainer gives its log_dir. Without `filename` the report is logged. `dirpath` may
    be any address that fsspec knows.
    """

    def __init__(self, dirpath: Path | None = None, filename: str | None = None) -> None:
        self.dirpath, self.filename = dirpath, filename
        self._stage = self._local_rank = None
        self._output_file = self._write_stream = None

    @property
    def local_rank(self) -> int:
        """The rank of this process on its machine; 0 where there is only one process."""
        return 0 if self._local_rank is None else self._local_rank

    def start(self, action_name: str) -> None:
        """An action begins."""

    def stop(self, action_name: str) -> None:
        """It ends."""

    def profile(self, action_name: str) -> AbstractContextManager[str]:
        """A context manager: its block is the action."""
        return Scope(self, action_name)

    def summary(self) -> str:
        """The report as text."""
        return ""

    def _rank_zero_info(self, text):
        if self._local_rank in (None, 0):
            _log(text)

    def _prepare_filename(self, action_name=None, extension=".txt", split_token="-"):
        parts = [self._stage, self.filename, self._local_rank, action_name]
        name = split_token.join(str(part) for part in parts if part is not None)
        name = re.sub(r'[\\/:*?"<>|\n\r\t]', "_", name)
        return (re.sub(r"_+", "_", name).strip() or "profile") + extension

    def _prepare_streams(self):
        """Opens what describe() writes to: the report's file, or the logger."""
        if self._write_stream is not None:
            return
        if not (self.filename and self.dirpath):
            self._write_stream = self._rank_zero_info
            return
        if _is_remote(self.dirpath):
            files, path = _remote(self.dirpath)
            files.makedirs(path, exist_ok=True)
            self._output_file = files.open(f"{path.rstrip('/')}/{self._prepare_filename()}", "a")
        else:
            os.makedirs(self.dirpath, exist_ok=True)
            self._output_file = open(os.path.join(self.dirpath, self._prepare_filename()), "a",
                                     encoding="utf-8")
        self._write_stream = self._output_file.write

    def _stats_to_str(self, stats):
        """A report of one part an action: {action: text}."""
        lines = ["Profiler Report" if self._stage is None else f"{self._stage.upper()} Profiler Report"]
        for action, text in stats.items():
            rank = "" if self._local_rank is None else f" rank: {self._local_rank}"
            lines += [f"Profile stats for: {action}{rank}", text]
        return "\n".join(lines)

    def describe(self) -> None:
        """Appends the report to its file, or logs it on rank 0; ends the stage. Within a Trainer
        and without one. OSError where the file cannot be written."""
        text = self.summary()
        if text:
            self._prepare_streams()
            self._write_stream(text)
        if self._output_file is not None:
            self._output_file.flush()
        self.teardown(stage=self._stage)

    def setup(self, stage: str | None, local_rank: int | None = None, log_dir: Path | None = None) -> None:
        """A stage begins: "fit", "validate", "test" or "predict"."""
        self._stage = None if stage is None else str(getattr(stage, "value", stage))
        self._local_rank = local_rank
        self.dirpath = self.dirpath or log_dir

    def teardown(self, stage: str | None = None) -> None:
        """It ends."""
        self._write_stream = None
        if self._output_file is not None:
            self._output_file.close()
            self._output_file = None


class _Slow:
    """What the C probe has faster, where it was not built: start and stop of actions."""

    def __init__(self, handle):
        self._handle = handle

    def start(self, action_name):
        actions().dwell_lightning_start(self._handle, encoded(action_name))

    def stop(self, action_name):
        try:
            native.check(actions().dwell_lightning_stop, self._handle, encoded(action_name))
        except native.Error as error:
            raise ValueError(str(error)) from None

    def profile(self, action_name):
        return Scope(self, action_name)


def encoded(name):
    """An action's name: any object, as Lightning takes it."""
    return native.encoded(str(name), "action_name")


def _recorder(handle):
    """start, stop and profile of the C core's profiler `handle`."""
    if native.python_probe is None:
        return _Slow(handle)
    library = actions()
    make = native.python_probe.dwp_python_recorder
    make.restype, make.argtypes = ctypes.py_object, [ctypes.py_object, Core, _p, _p]
    return make(handle, handle, *(ctypes.cast(function, _p) for function in
                          (library.dwell_lightning_start, library.dwell_lightning_stop)))


def _renew_lock():
    """At import, and in a child process of fork, where another thread may have held the lock."""
    global _lock  # pylint: disable=global-statement
    _lock = threading.RLock()


_renew_lock()
os.register_at_fork(after_in_child=_renew_lock)


@contextlib.contextmanager
def warned(what):
    """dwell.Error within the block becomes a warning."""
    try:
        yield
    except native.Error as error:
        warnings.warn(f"dwell: {what} could not be made: {error}", RuntimeWarning, stacklevel=4)


class Recorded(Profiler):
    """A profiler of the C core, by name.

    Actions count for the stage in which they begin. Outside of any stage, the first action
    begins one without a name, which lasts until describe(), teardown() or the next setup().
    """

    _name = "simple"
    _in_stage = _unnamed = False

    def __init__(self, dirpath=None, filename=None, **options):
        super().__init__(dirpath, filename)
        self._options = options
        self._native = self._recorder = None
        self._fast = ()

    def _is_own(self):
        """Whether no derived class wants to be asked for each action."""
        return all(getattr(type(self), name).__module__.startswith("dwell.")
                   for name in ("start", "stop", "profile"))

    def _take_fast_path(self):
        """In a stage, the recorder's functions stand in for these methods."""
        if self._is_own():
            self._fast = [name for name in ("start", "stop", "profile") if name not in self.__dict__]
            for name in self._fast:
                self.__dict__[name] = getattr(self._recorder, name)

    def _leave_fast_path(self):
        for name in self._fast:
            self.__dict__.pop(name, None)
        self._fast = ()

    def _core(self):
        if self._native is None:
            options = _Options(size=ctypes.sizeof(_Options), **self._options)
            self._native = Core(native.pointer(native.check(actions().dwell_lightning_create, self._name.encode(),
                                                            ctypes.byref(options))))
            self._recorder = _recorder(self._native)
        return self._native

    # Trainers are pickled on their way to other processes; what is recorded stays here.
    def __getstate__(self):
        state = {key: value for key, value in self.__dict__.items()
                 if key not in self._fast and key not in ("_in_stage", "_unnamed")}
        return {**state, "_native": None, "_recorder": None, "_fast": (), "_output_file": None,
                "_write_stream": None}

    # ---- actions -------------------------------------------------------------------------

    def start(self, action_name):
        """An action begins; any number may be open, in any thread."""
        self._want_stage(action_name)
        self._recorder.start(action_name)

    def stop(self, action_name):
        """The innermost open one of that name ends. ValueError when this thread has started
        none; an action that the end of its stage has closed may be stopped later."""
        self._core()
        self._recorder.stop(action_name)

    def profile(self, action_name):
        """A context manager: its block is the action."""
        if not self._is_own():
            return super().profile(action_name)
        self._want_stage(action_name)
        return self._recorder.profile(action_name)

    # ---- stages --------------------------------------------------------------------------

    def _want_stage(self, action_name):
        """Begins the stage without a name, but not for the hooks that a Trainer runs after its own
        stages: they would leave it open, and all that follows would be recorded."""
        if not self._in_stage and not (str(action_name).startswith("[") and self._has_trainer()):
            with _lock:
                if not self._in_stage:
                    self._stage = None
                    self._unnamed = True
                    self._begin_stage()
        self._core()

    def _has_trainer(self):
        return hasattr(self, "_lightning_module")  # a Trainer gives it to its profiler

    def _begin_stage(self):
        self._core()
        self._start_stage()
        self._in_stage = True
        self._take_fast_path()

    def _start_stage(self):
        native.check(actions().dwell_lightning_setup, self._native, (self._stage or "run").encode(),
                     -1 if self._local_rank is None else self._local_rank, None)
        native.follow_gate()

    def setup(self, stage, local_rank=None, log_dir=None):
        """A stage begins; one that is still open ends without a report. Raises dwell.Error where
        no trace can be written and OSError where no files can, with the place and the remedy."""
        if self._in_stage and not self._unnamed:  # an exception ended it
            self.teardown(stage=self._stage)
        self._end_stage(discard=True)
        self._unnamed = False
        super().setup(stage, local_rank, log_dir)
        if self.dirpath and self._writes_files() and not _is_remote(self.dirpath):
            _check_folder(self.dirpath)
        self._begin_stage()

    def _writes_files(self):
        return bool(self.filename)

    def summary(self):
        """The report of the stage so far, or of the last one; "" before the first."""
        if self._native is None:
            return ""
        return native.printed(actions().dwell_lightning_summary, self._native)

    def describe(self):
        """Appends the report to its file, or logs it on rank 0; ends the stage. Within a Trainer
        and without one. OSError where the file cannot be written. A trace that cannot be read
        (any more) is a warning: the training that it is about has succeeded."""
        self._end_stage()  # first: reading the trace is no part of it
        with warned("the report"):
            super().describe()

    def teardown(self, stage=None):
        """The stage ends."""
        super().teardown(stage)
        self._end_stage()

    def _end_stage(self, discard=False):
        """`discard`: nobody asks for its results."""
        if not self._in_stage:
            return
        was_unnamed = self._unnamed
        self._in_stage = self._unnamed = False
        self._leave_fast_path()
        self._stop_stage(was_unnamed, discard)

    def _stop_stage(self, quiet, discard):  # pylint: disable=unused-argument
        try:
            native.check(actions().dwell_lightning_teardown, self._native)
        except native.Error as error:
            if not quiet:
                print(f"dwell: {error}", file=sys.stderr)
        native.follow_gate()

    def _result(self):
        """The part of the trace that the current stage has recorded, or the last stage when none is
        open; None before the first stage."""
        result = native.Result()
        if self._native is None or actions().dwell_lightning_result(self._native, ctypes.byref(result), None):
            return None
        return result
