from typing import Any

from .profiler import record_function

class Trace(record_function):
    def __init__(self, name: str, **kwargs: Any) -> None: ...

class StepTrace(Trace):
    step_num: int | None
    def __init__(self, name: str, step_num: int | None = None, **kwargs: Any) -> None: ...
