"""ONNX Runtime under `dwell run`: each call of InferenceSession.run() or run_with_iobinding() is a step, which costs a
few microseconds.

While shapes are recorded, a session that is made gets ONNX Runtime's own profiler, whose file has the nodes. The file
lies next to the trace, and `dwell report FILE` reads it.
"""
import atexit
import ctypes
import functools
import weakref

from . import _native as native

_OPERATOR, _SHAPES = 2, 1 << 24
_begun = 0  # steps of this module
_profiled = weakref.WeakSet()


def _wants(mask):
    gate = ctypes.POINTER(ctypes.c_uint32).in_dll(native.record, "dwell_gate")
    return bool(gate) and bool(gate[0] & mask)


def _end_profiles():
    for session in list(_profiled):
        session.end_profiling()


def _recorded(plain):
    @functools.wraps(plain)
    def run(self, *arguments, **named):
        global _begun  # pylint: disable=global-statement
        record = native.record
        stepping = record.dwell_active() and record.dwell_steps_begun() <= _begun
        if stepping:
            _begun += 1
            record.dwell_step_begin()
        began = record.dwell_begin_id(record.dwell_intern(_OPERATOR, b"Run", b"ONNX Runtime"), _OPERATOR)
        try:
            return plain(self, *arguments, **named)
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

    @functools.wraps(plain_init)
    def init(self, path_or_bytes, sess_options=None, *arguments, **named):
        if not _wants(_SHAPES) or (sess_options is not None and sess_options.enable_profiling):
            plain_init(self, path_or_bytes, sess_options, *arguments, **named)
            return
        if sess_options is None:
            from onnxruntime import SessionOptions

            sess_options = SessionOptions()
        prefix, plain_prefix = native.record.dwell_trace_path() + b".onnx", sess_options.profile_file_prefix
        sess_options.enable_profiling, sess_options.profile_file_prefix = True, prefix.decode(errors="surrogateescape")
        try:
            plain_init(self, path_or_bytes, sess_options, *arguments, **named)
        finally:
            sess_options.enable_profiling, sess_options.profile_file_prefix = False, plain_prefix
        if not _profiled:
            atexit.register(_end_profiles)
        _profiled.add(self)
        native.record.dwell_meta(b"onnxruntime.nodes", prefix)

    session_class.__init__, session_class.run = init, _recorded(plain_run)
    if hasattr(session_class, "run_with_iobinding"):
        session_class.run_with_iobinding = _recorded(session_class.run_with_iobinding)
    from onnxruntime import __version__

    native.record.dwell_meta(b"onnxruntime.recorded", __version__.encode())
