"""dwell's ranges as NVTX: for a run under NVIDIA's tools, or any that NVTX_INJECTION64_PATH names.

    with dwell.emit_nvtx():
        train()

Within the block each operator of PyTorch, each torch.profiler.record_function and each dwell.record_function is an
NVTX range of the domain "dwell". Nothing is recorded by this, and `dwell run` does not record these ranges again.
"""
from __future__ import annotations

import ctypes
import os
import threading
from typing import Literal

from . import _native as native
from . import profiler

_lock = threading.Lock()
_open = 0  # blocks that are open


def _load():
    path = native.probe_path("injected")
    if not path:
        raise ImportError(f"libdwell-injected.so is not in {native.home()}: install dwell again")
    library = ctypes.CDLL(path)
    library.dwi_emit_push.argtypes, library.dwi_emit_push.restype = [native.text], None
    library.dwi_emit_pop.restype = None
    return library


class emit_nvtx:
    """A context manager: emits ranges as NVTX in its block, in all threads, and has CUDA's profiler on
    (cudaProfilerStart, cudaProfilerStop) if the program has loaded CUDA. Blocks may nest.

    `enabled=False` makes it do nothing. `active` says whether a tool takes the ranges. `record_shapes` is refused: names of
    ranges have no shapes."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        if record_shapes:
            raise ValueError("dwell.emit_nvtx: record_shapes has no meaning here: names of ranges have no shapes; "
                             "record them with dwell.profile(record_shapes=True)")
        self.enabled, self.record_shapes, self.active, self.entered = enabled, record_shapes, False, False

    def __enter__(self) -> emit_nvtx:
        if self.entered:
            raise RuntimeError("NVTX annotation context manager is not reentrant")
        if self.enabled:
            self.entered = True
            self.active = _begin()
        return self

    def __exit__(self, *exception: object) -> Literal[False]:
        if self.entered:
            self.entered = False
            _end()
        return False


def _begin():
    global _open  # pylint: disable=global-statement
    with _lock:
        library = _emitter()
        active = bool(library.dwi_emit_open())
        _open += 1
        if _open == 1:
            library.dwi_emit_cuda(1)
            if active:
                profiler.emitter = library
                _follow(library)
        return active


def _end():
    global _open  # pylint: disable=global-statement
    with _lock:
        _open -= 1
        if _open == 0:
            profiler.emitter = None
            _follow(None)
            _emitter().dwi_emit_cuda(0)


def _follow(library):
    """PyTorch's operators are emitted by the C probe."""
    probe = native.python_probe
    if probe is not None:
        functions = (library.dwi_emit_push, library.dwi_emit_pop) if library else (None, None)
        probe.dwp_python_emit(*(ctypes.cast(function, native.pointer) if function else None for function in functions))


_library = None


def _emitter():
    global _library  # pylint: disable=global-statement
    if _library is None:
        _library = _load()
    return _library
