"""dwell: where a neural network's training time and memory go.

`dwell run -- python train.py` needs no line of this. To look at a part of a program from
within, use it as torch.profiler:

    from dwell import profile, record_function, schedule, ProfilerActivity
"""
import importlib
import os

TYPE_CHECKING = False  # as typing's, which would take longer to import than this module
if TYPE_CHECKING:
    from . import autograd as autograd, torchprof as torchprof
    from ._native import Error as Error
    from .frames import Frames as Frames, open as open
    from .events import EventList as EventList, FunctionEvent as FunctionEvent, FunctionEventAvg as FunctionEventAvg
    from .notebook import load_ipython_extension as load_ipython_extension
    from .nvprof import load_nvprof as load_nvprof
    from .nvtx import emit_nvtx as emit_nvtx
    from .profiler import (ProfilerAction as ProfilerAction, ProfilerActivity as ProfilerActivity, kineto_available as kineto_available,
                           profile as profile, record_function as record_function, schedule as schedule, step as step,
                           supported_activities as supported_activities, tensorboard_trace_handler as tensorboard_trace_handler)
    from .values import Request as Request, counter as counter, mark as mark, request as request
    from .views import View as View

__version__ = "0.1.0"
DISTRIBUTION = "dwell-profiler"  # what pip calls it; pyproject.toml has the name

# The C libraries are loaded when one of these is first used.
_HOMES = {
    "Error": "_native",
    "EventList": "events", "FunctionEvent": "events", "FunctionEventAvg": "events",
    "ProfilerAction": "profiler", "ProfilerActivity": "profiler", "profile": "profiler",
    "Frames": "frames", "open": "frames",
    "load_nvprof": "nvprof",
    "kineto_available": "profiler", "record_function": "profiler", "schedule": "profiler", "step": "profiler",
    "supported_activities": "profiler",
    "tensorboard_trace_handler": "profiler",
    "View": "views",
    "Request": "values", "counter": "values", "mark": "values", "request": "values",
    "emit_nvtx": "nvtx",
    "load_ipython_extension": "notebook",  # %load_ext dwell
}
_MODULES = {"autograd", "torchprof"}  # imported when it is first used
__all__ = sorted(_HOMES.keys() - {"open"})  # for `from dwell import *`, which leaves Python's open() as it is


def _others():
    """Another project's distribution "dwell" in the folder of this package, whose files may have replaced some of ours."""
    try:
        names = os.listdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    except OSError:
        return []
    return [name for name in names if name.startswith("dwell-") and name.endswith((".dist-info", ".egg-info"))]


def _warn(others):
    import warnings
    warnings.warn(f"another package of the name 'dwell' is installed here ({others[0]}), and both have the import dwell: "
                  f"python -m pip uninstall dwell {DISTRIBUTION}, then install {DISTRIBUTION} again", RuntimeWarning, stacklevel=3)


if others := _others():
    _warn(others)
del others


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name not in _HOMES:
        raise AttributeError(f"module 'dwell' has no attribute {name!r}")
    value = getattr(importlib.import_module("." + _HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOMES, *_MODULES})
