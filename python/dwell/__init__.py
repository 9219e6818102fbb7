"""dwell: where a neural network's training time and memory go.

`dwell run -- python train.py` needs no line of this. To look at a part of a program from
within, use it as torch.profiler:

    from dwell import profile, record_function, schedule, ProfilerActivity
"""
from ._native import Error
from .events import EventList, FunctionEvent, FunctionEventAvg
from .profiler import (ProfilerAction, ProfilerActivity, profile, record_function, schedule,
                       tensorboard_trace_handler)

__version__ = "0.1.0"
__all__ = ["Error", "EventList", "FunctionEvent", "FunctionEventAvg", "ProfilerAction",
           "ProfilerActivity", "profile", "record_function", "schedule",
           "tensorboard_trace_handler"]
