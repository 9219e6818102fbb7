import enum
import os
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from typing_extensions import Self

class DeviceType(enum.Enum):
    CPU = 0
    CUDA = 1

class Interval:
    start: float
    end: float
    def __init__(self, start: float, end: float) -> None: ...
    def elapsed_us(self) -> float: ...

class _Times:
    @property
    def cpu_time_str(self) -> str: ...
    @property
    def cpu_time_total_str(self) -> str: ...
    @property
    def self_cpu_time_total_str(self) -> str: ...
    @property
    def device_time_str(self) -> str: ...
    @property
    def device_time_total_str(self) -> str: ...
    @property
    def self_device_time_total_str(self) -> str: ...
    @property
    def cuda_time_str(self) -> str: ...
    @property
    def cuda_time_total_str(self) -> str: ...
    @property
    def self_cuda_time_total_str(self) -> str: ...
    device_time: float
    device_time_total: float
    self_device_time_total: float
    @property
    def cuda_time(self) -> float: ...
    @property
    def cuda_time_total(self) -> float: ...
    @property
    def self_cuda_time_total(self) -> float: ...
    self_device_memory_usage: int
    @property
    def cuda_memory_usage(self) -> int: ...
    @property
    def self_cuda_memory_usage(self) -> int: ...
    self_cpu_percent: int
    total_cpu_percent: int
    total_device_percent: int
    @property
    def device_type(self) -> Any: ...
    use_device: str | None
    device_index: int
    device_resource_id: int
    is_legacy: bool
    is_remote: bool
    node_id: int

class FunctionEvent(_Times):
    id: int
    name: str
    trace_name: str
    overload_name: str
    thread: int
    pid: int
    fwd_thread: int
    time_range: Interval
    sequence_nr: int
    input_shapes: list[list[int]]
    input_dtypes: list[str]
    concrete_inputs: list[Any]
    kwinputs: dict[str, Any]
    stack: list[str]
    scope: int
    category: int
    is_user_annotation: bool
    is_async: bool
    metadata_json: str
    count: int
    kernels: list[Any]
    flops: int
    activity_type: str
    external_id: int
    linked_correlation_id: int
    flow_id: int
    flow_type: int
    flow_start: bool
    is_python_function: bool
    python_id: int
    python_parent_id: int
    python_module_id: int
    structured_input_shapes: list[Any]
    structured_input_strides: None
    event_metadata: Any
    extra_meta: Any
    cpu_children: list[FunctionEvent]
    cpu_parent: FunctionEvent | None
    self_cpu_memory_usage: int
    def __init__(self, number: int, event: dict[str, Any]) -> None: ...
    @property
    def key(self) -> str: ...
    @property
    def cpu_time(self) -> float: ...
    @property
    def cpu_time_total(self) -> float: ...
    @property
    def self_cpu_time_total(self) -> float: ...
    @property
    def cpu_memory_usage(self) -> int: ...
    @property
    def device_memory_usage(self) -> int: ...
    def append_cpu_child(self, child: FunctionEvent) -> None: ...
    def set_cpu_parent(self, parent: FunctionEvent) -> None: ...
    def append_kernel(self, name: str, device: int, duration: float) -> None: ...

class FunctionEventAvg(_Times):
    key: str | None
    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    min_cpu_time: float
    max_cpu_time: float
    p50_cpu_time: float
    p99_cpu_time: float
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    device_memory_usage: int
    input_shapes: list[list[int]] | str
    overload_name: str
    stack: list[str]
    flops: int
    is_async: bool
    is_user_annotation: bool
    scope: int
    cpu_parent: None
    cpu_children: None
    def __init__(self, row: dict[str, Any] | None = None) -> None: ...
    def add(self, other: FunctionEvent | FunctionEventAvg) -> Self: ...
    def __iadd__(self, other: FunctionEvent | FunctionEventAvg) -> Self: ...
    @property
    def cpu_time(self) -> float: ...
    @property
    def device_time(self) -> float: ...

_E = TypeVar("_E", FunctionEvent, FunctionEventAvg)

class EventList(list[_E], Generic[_E]):
    def __init__(
        self, items: Iterable[_E] = (), trace: Any = None, group_by: str | None = None, ranges: str | None = None,
    ) -> None: ...
    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str: ...
    @property
    def self_cpu_time_total(self) -> float: ...
    def supported_export_stacks_metrics(self) -> list[str]: ...
    def total_average(self) -> FunctionEventAvg: ...
    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList[FunctionEventAvg]: ...
    def export_chrome_trace(
        self, path: str | os.PathLike[str], use_python_export: bool = False) -> None: ...
    def export_stacks(self, path: str | os.PathLike[str], metric: str) -> None: ...

def averages(
    trace: Any, by_shape: bool = False, by_stack: int = 0, by_overload: bool = False,
    ranges: str | None = None,
) -> EventList[FunctionEventAvg]: ...
def refuse_python_export(asked: bool) -> None: ...
def events_of(trace: Any, categories: frozenset[int] = ..., ranges: str | None = None) -> EventList[FunctionEvent]: ...
def ranges_of(trace: Any, category: int) -> list[tuple[str, int, int]]: ...
