"""ONNX Runtime under `dwell run`: each call of InferenceSession.run() or run_with_iobinding() is a step, which costs a
few microseconds.

While shapes are recorded, nodes are operators in their run (probes/onnx/nodes.h). Versions before 1.25 cannot say them
after each run: there a session that is made gets ONNX Runtime's own profiler, whose file has the nodes. It lies next to
the trace, and `dwell report FILE` reads it.
"""
import atexit
import ctypes
import functools
import inspect
import weakref

from . import _native as native

_OPERATOR, _SHAPES = 2, 1 << 24
_begun = 0  # steps of this module
_profiled = weakref.WeakSet()
_own = weakref.WeakSet()  # sessions whose profiler the program uses itself


def _wants(mask):
    gate = ctypes.POINTER(ctypes.c_uint32).in_dll(native.record, "dwell_gate")
    return bool(gate) and bool(gate[0] & mask)


def _end_profiles():
    for session in list(_profiled):
        session.end_profiling()


class _Nodes:
    """Has the nodes of runs recorded by libdwell-onnx, which changes the options of a run. In Python it gets ONNX
    Runtime's functions as a library of custom operators does."""

    def __init__(self, onnxruntime):
        self._library = None
        path = native.probe_path("onnx")
        if path:
            try:
                self._attach(path, onnxruntime)
            except Exception:  # pylint: disable=broad-except  # a build without custom operators: runs without nodes
                pass

    def _attach(self, path, onnxruntime):
        self._make_options = onnxruntime.RunOptions
        library = ctypes.CDLL(path)
        library.dwo_python_begin.argtypes, library.dwo_python_begin.restype = [native.pointer], None
        library.dwo_python_end.restype = None
        library.dwo_python_check.argtypes, library.dwo_python_check.restype = [native.pointer, ctypes.c_int], native.boolean
        onnxruntime.SessionOptions().register_custom_ops_library(path)
        options = self._make_options()
        options.log_verbosity_level = 7531
        if library.dwo_python_check(self._address(options), 7531):
            self._library = library

    @staticmethod
    def _address(options):
        """The address of the C++ object: it is the first thing that pybind11 stores in the object of Python."""
        return native.pointer.from_address(id(options) + object.__basicsize__).value

    def known(self):
        return self._library is not None

    def run(self, plain, arguments, named):
        """Calls the function with options that the nodes are recorded with."""
        if not self.known() or not _wants(_SHAPES) or arguments[0] in _own:
            return plain(*arguments, **named)
        bound = inspect.signature(plain).bind(*arguments, **named)
        options = bound.arguments.get("run_options") or self._make_options()
        bound.arguments["run_options"] = options
        self._library.dwo_python_begin(self._address(options))
        try:
            return plain(*bound.args, **bound.kwargs)
        finally:
            self._library.dwo_python_end()


def _recorded(plain, nodes):
    @functools.wraps(plain)
    def run(*arguments, **named):
        global _begun  # pylint: disable=global-statement
        record = native.record
        stepping = record.dwell_active() and record.dwell_steps_begun() <= _begun
        if stepping:
            _begun += 1
            record.dwell_step_begin()
        began = record.dwell_begin_id(record.dwell_intern(_OPERATOR, b"Run", b"ONNX Runtime"), _OPERATOR)
        try:
            return nodes.run(plain, arguments, named)
        finally:
            record.dwell_end_id(began)
            if stepping:
                record.dwell_step_end()

    run._dwell = True
    return run


def record_sessions(session_class):
    """Records every session that is made from now on; `dwell run` calls it for a script."""
    plain_init, plain_run = session_class.__init__, session_class.run
    if hasattr(plain_run, "_dwell"):
        return
    import onnxruntime

    nodes = _Nodes(onnxruntime)

    @functools.wraps(plain_init)
    def init(self, path_or_bytes, sess_options=None, *arguments, **named):
        own = sess_options is not None and sess_options.enable_profiling
        if own or nodes.known() or not _wants(_SHAPES):
            plain_init(self, path_or_bytes, sess_options, *arguments, **named)
            if own:
                _own.add(self)
            return
        if sess_options is None:
            sess_options = onnxruntime.SessionOptions()
        prefix, plain_prefix = native.record.dwell_trace_path() + b".onnx", sess_options.profile_file_prefix
        sess_options.enable_profiling, sess_options.profile_file_prefix = True, prefix.decode(errors="surrogateescape")
        try:
            plain_init(self, path_or_bytes, sess_options, *arguments, **named)
        finally:
            sess_options.enable_profiling, sess_options.profile_file_prefix = False, plain_prefix
        if not _profiled:
            atexit.register(_end_profiles)
        _profiled.add(self)
        native.record.dwell_meta(b"onnxruntime.files", prefix)

    session_class.__init__, session_class.run = init, _recorded(plain_run, nodes)
    if hasattr(session_class, "run_with_iobinding"):
        session_class.run_with_iobinding = _recorded(session_class.run_with_iobinding, nodes)
    native.record.dwell_meta(b"onnxruntime.recorded", onnxruntime.__version__.encode())
