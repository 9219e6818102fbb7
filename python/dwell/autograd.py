"""torch.autograd.profiler's names over dwell.

    from dwell import autograd as profiler
    with profiler.profile(record_shapes=True) as prof:
        model(x)
    print(prof.key_averages().table(sort_by="self_cpu_time_total"))

What has no meaning here is refused by its name, never ignored.
"""
import importlib

from .events import EventList, FunctionEvent, FunctionEventAvg
from .nvprof import load_nvprof
from .nvtx import emit_nvtx
from .profiler import kineto_available, record_function

_modern = importlib.import_module(".profiler", __package__)

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "emit_itt", "emit_nvtx", "kineto_available", "load_nvprof",
           "parse_nvprof_trace", "profile", "record_function"]


def parse_nvprof_trace(path):
    """The events of load_nvprof()."""
    return list(load_nvprof(path))


class emit_itt:
    """Refused: dwell emits NVTX, see emit_nvtx()."""

    def __init__(self, enabled=True, record_shapes=False):
        if enabled:
            raise NotImplementedError("dwell: emit_itt is not offered: for VTune use torch.autograd.profiler.emit_itt, "
                                      "whose ranges dwell records")
        self.enabled, self.record_shapes = enabled, record_shapes

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


class profile:
    """torch.autograd.profiler.profile: a dwell.profile with the names that it had before torch.profiler."""

    _profile = None

    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, record_shapes=False, with_flops=False,
                 profile_memory=False, with_stack=False, with_modules=False, use_kineto=False, use_cpu=True,
                 experimental_config=None, acc_events=False, custom_trace_id_callback=None,
                 post_processing_timeout_s=None, activity_filters=None):
        self.enabled, self.entered = enabled, False
        if not enabled:
            return
        for name, value, why in (("activity_filters", activity_filters, "dwell records all kinds of events of a device"),
                                 ("use_cpu", not use_cpu, "a profile of devices alone is dwell.profile(activities=...)"),
                                 ("use_device", use_device not in (None, "cuda"), "devices are NVIDIA's: use_device='cuda'")):
            if value:
                raise ValueError(f"dwell.autograd.profile: {name} has no meaning here: {why}")
        self.use_cuda, self.use_cpu, self.use_device = use_cuda, use_cpu, "cuda" if use_cuda else use_device
        cpu, cuda = _modern.ProfilerActivity.CPU, _modern.ProfilerActivity.CUDA
        self._take(_modern.profile(
            activities=[cpu, cuda] if self.use_device else [cpu], record_shapes=record_shapes, with_flops=with_flops,
            profile_memory=profile_memory, with_stack=with_stack, with_modules=with_modules, acc_events=acc_events,
            experimental_config=experimental_config, custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s))

    def _take(self, modern):
        self._profile = modern
        for name in ("record_shapes", "with_flops", "profile_memory", "with_stack", "with_modules", "acc_events",
                     "experimental_config", "custom_trace_id_callback", "post_processing_timeout_s"):
            setattr(self, name, getattr(modern, name))

    @classmethod
    def of(cls, modern):
        """The result of a dwell.profile, which has made and started it."""
        self = cls.__new__(cls)
        self.enabled = self.entered = self.use_cpu = True
        self.use_cuda = any(activity.name == "CUDA" for activity in modern.activities)
        self.use_device = "cuda" if self.use_cuda else None
        self._take(modern)
        return self

    def __enter__(self):
        if self.enabled:
            if self.entered:
                raise RuntimeError("Profiler context manager is not reentrant")
            self.entered = True
            self._profile.start()
        return self

    def __exit__(self, kind, exception, traceback):
        if self.enabled:
            self._profile.stop()
        return False

    def _has_result(self):
        return self._profile is not None and self._profile.get_trace_id() is not None

    def __repr__(self):
        return repr(self.function_events) if self._has_result() else "<unfinished torch.autograd.profile>"

    def __str__(self):
        return str(self.function_events) if self._has_result() else "<unfinished torch.autograd.profile>"

    @property
    def function_events(self):
        """Each call, as an EventList."""
        return self._profile.events()

    @property
    def trace_id(self):
        """The trace's file and the profile's number in it."""
        return self._profile.get_trace_id() or ""

    @property
    def self_cpu_time_total(self):
        """Microseconds that were spent in the recorded calls."""
        return self.function_events.self_cpu_time_total

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55,
              max_shapes_column_width=80, header=None, top_level_events_only=False):
        """torch's table. A row is an operator; the original has one for each call."""
        return self.function_events.table(sort_by, row_limit, max_src_column_width, max_name_column_width,
                                          max_shapes_column_width, header, top_level_events_only)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """An EventList of FunctionEventAvg."""
        return self._profile.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self):
        """The sums over all calls, as one FunctionEventAvg."""
        return self.function_events.total_average()

    def export_chrome_trace(self, path, metadata=None, use_python_export=False):
        """Chrome's JSON. `metadata` is refused: add_metadata() of a dwell.profile stores it."""
        if metadata is not None:
            raise ValueError("dwell.autograd.profile: metadata has no meaning here: store it with "
                             "dwell.profile.add_metadata() while the profile runs")
        self._profile.export_chrome_trace(path, use_python_export)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Stacks with their time, a line each; needs with_stack."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self._profile.export_stacks(path, metric)

    def toggle_collection_dynamic(self, enabled, activities):
        """Refused, as dwell.profile refuses it."""
        self._profile.toggle_collection_dynamic(enabled, activities)
