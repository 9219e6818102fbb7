from typing import Literal
from typing_extensions import Self

class emit_nvtx:
    enabled: bool
    record_shapes: bool
    active: bool
    entered: bool
    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...
