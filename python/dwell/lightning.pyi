import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal

from torch.nn import Module
from typing_extensions import Self

from .profiler import profile

__all__ = ["AdvancedProfiler", "BaseProfiler", "PassThroughProfiler", "Profiler",
           "PyTorchProfiler", "RegisterRecordFunction", "SimpleProfiler", "XLAProfiler"]

_Path = str | os.PathLike[str]

class Profiler:
    dirpath: _Path | None
    filename: str | None
    def __init__(self, dirpath: _Path | None = None, filename: str | None = None) -> None: ...
    @property
    def local_rank(self) -> int: ...
    def start(self, action_name: str) -> None: ...
    def stop(self, action_name: str) -> None: ...
    def profile(self, action_name: str) -> AbstractContextManager[str]: ...
    def summary(self) -> str: ...
    def describe(self) -> None: ...
    def setup(self, stage: str | None, local_rank: int | None = None,
              log_dir: _Path | None = None) -> None: ...
    def teardown(self, stage: str | None = None) -> None: ...

BaseProfiler = Profiler

class PassThroughProfiler(Profiler): ...

class SimpleProfiler(Profiler):
    extended: bool
    synchronize: bool
    def __init__(self, dirpath: _Path | None = None, filename: str | None = None,
                 extended: bool = True, synchronize: bool = False) -> None: ...

class AdvancedProfiler(Profiler):
    dump_stats: bool
    def __init__(self, dirpath: _Path | None = None, filename: str | None = None,
                 line_count_restriction: float = 1.0, dump_stats: bool = False) -> None: ...

class PyTorchProfiler(Profiler):
    def __init__(
        self, dirpath: _Path | None = None, filename: str | None = None,
        group_by_input_shapes: bool = False, emit_nvtx: Literal[False] = False,
        export_to_chrome: bool = True, row_limit: int = 20, sort_by_key: str | None = None,
        record_module_names: bool = True, table_kwargs: Mapping[str, Any] | None = None, *,
        record_functions: Iterable[str] = (), schedule: Callable[[int], Any] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        activities: Iterable[Any] | None = None, record_shapes: bool = False,
        profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
        with_modules: bool = False, export_to_flame_graph: bool = False,
        metric: str = "self_cpu_time_total",
    ) -> None: ...

class RegisterRecordFunction:
    def __init__(self, model: Module) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

class XLAProfiler(Profiler):
    RECORD_FUNCTIONS: set[str]
    port: int
    def __init__(self, port: int = 9012) -> None: ...

def record_profilers(base: type) -> None: ...
