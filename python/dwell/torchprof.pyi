from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from torch.autograd.profiler_util import EventList
from torch.nn import Module
from typing_extensions import Self

__all__ = ["Profile", "Trace"]

class Trace(NamedTuple):
    path: tuple[str, ...]
    leaf: bool
    module: Module

def walk_modules(module: Module) -> Iterator[Trace]: ...
def format_time(ns: float) -> str: ...
def format_memory(size: int) -> str: ...

class Profile:
    enabled: bool
    use_cuda: bool
    profile_memory: bool
    paths: Iterable[Sequence[str] | str] | None
    entered: bool
    exited: bool
    traces: tuple[Trace, ...]
    def __init__(
        self,
        model: Module,
        enabled: bool = True,
        use_cuda: bool = False,
        profile_memory: bool = False,
        paths: Iterable[Sequence[str] | str] | None = None,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __str__(self) -> str: ...
    def display(self, show_events: bool = False, backward: bool = False) -> str: ...
    @property
    def trace_profile_events(self) -> dict[tuple[str, ...], list[EventList]]: ...
    def raw(self) -> tuple[tuple[Trace, ...], dict[tuple[str, ...], list[EventList]]] | None: ...
