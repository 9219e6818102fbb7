from . import autograd as autograd
from . import torchprof as torchprof
from ._native import Error as Error
from .events import EventList as EventList
from .events import FunctionEvent as FunctionEvent
from .events import FunctionEventAvg as FunctionEventAvg
from .notebook import load_ipython_extension as load_ipython_extension
from .nvprof import load_nvprof as load_nvprof
from .nvtx import emit_nvtx as emit_nvtx
from .profiler import ProfilerAction as ProfilerAction
from .profiler import ProfilerActivity as ProfilerActivity
from .profiler import kineto_available as kineto_available
from .profiler import profile as profile
from .profiler import record_function as record_function
from .profiler import schedule as schedule
from .profiler import step as step
from .profiler import supported_activities as supported_activities
from .profiler import tensorboard_trace_handler as tensorboard_trace_handler
from .values import counter as counter
from .values import mark as mark
from .views import View as View

__version__: str
__all__ = [
    "Error", "EventList", "FunctionEvent", "FunctionEventAvg", "ProfilerAction", "ProfilerActivity",
    "View", "counter", "emit_nvtx", "kineto_available", "load_ipython_extension", "load_nvprof", "mark", "profile", "record_function",
    "schedule", "step", "supported_activities", "tensorboard_trace_handler",
]
