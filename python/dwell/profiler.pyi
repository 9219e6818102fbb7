import contextlib
import enum
import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from typing_extensions import Self

from .events import EventList, FunctionEvent, FunctionEventAvg
from .views import View

__all__ = ["ProfilerAction", "ProfilerActivity", "begin_step", "end_step", "kineto_available", "profile",
           "record_function", "schedule", "step", "supported_activities", "tensorboard_trace_handler"]

class ProfilerAction(enum.Enum):
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3

class ProfilerActivity(enum.Enum):
    CPU = 1
    CUDA = 2
    XPU = 3
    MTIA = 4
    HPU = 5
    PrivateUse1 = 6

def supported_activities() -> set[ProfilerActivity]: ...
def kineto_available() -> bool: ...
def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]: ...
def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False,
    use_python_export: bool = False,
) -> Callable[[profile], None]: ...

def step() -> None: ...
def begin_step() -> None: ...
def end_step() -> None: ...

class record_function(contextlib.ContextDecorator):
    name: str
    args: str | None
    def __init__(self, name: str, args: str | None = None) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

class profile:
    record_shapes: bool
    profile_memory: bool
    with_stack: bool
    with_flops: bool
    with_modules: bool
    acc_events: bool
    activities: set[Any]
    schedule: Callable[[int], Any]
    record_steps: bool
    use_device: str | None
    on_trace_ready: Callable[[profile], Any] | None
    execution_trace_observer: None
    experimental_config: None
    custom_trace_id_callback: None
    post_processing_timeout_s: None
    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], Any] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: None = None,
        execution_trace_observer: None = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: None = None,
        post_processing_timeout_s: None = None,
        name: str | None = None,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def does_not_mark_steps(self) -> None: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def step(self) -> None: ...
    @staticmethod
    def prepare_trace() -> None: ...
    def start_trace(self) -> None: ...
    def stop_trace(self) -> None: ...
    @property
    def step_num(self) -> int: ...
    @property
    def current_action(self) -> ProfilerAction: ...
    def add_metadata(self, key: str, value: str) -> None: ...
    def add_metadata_json(self, key: str, value: str) -> None: ...
    def preset_metadata_json(self, key: str, value: str) -> None: ...
    def set_custom_trace_id_callback(self, callback: Any) -> None: ...
    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> None: ...
    @property
    def trace(self) -> Any: ...
    @property
    def profiler(self) -> Any: ...
    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList[FunctionEventAvg]: ...
    def events(self) -> EventList[FunctionEvent]: ...
    def view(
        self, name: str, *, sort: str | None = None, limit: int | None = None,
        group_by: str | None = None, top_level: bool = False, engine: str | None = None,
    ) -> View: ...
    def summary(self) -> dict[str, Any]: ...
    def export_chrome_trace(
        self, path: str | os.PathLike[str], use_python_export: bool = False) -> None: ...
    def export_stacks(
        self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None: ...
    def export_memory_timeline(
        self, path: str | os.PathLike[str], device: str | None = None) -> None: ...
    def export_flamegraph(
        self, path: str | os.PathLike[str], metric: str | None = None, title: str | None = None,
    ) -> None: ...
    def get_trace_id(self) -> str | None: ...
