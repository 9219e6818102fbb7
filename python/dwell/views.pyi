from typing import Any, Literal

class View:
    name: str
    def __init__(
        self,
        trace: Any,
        name: str,
        *,
        # [tools/generate view_stub] from src/output/views/view_options.def: do not edit
        sort: str | None = None,
        limit: int | None = None,
        group_by: str | None = None,
        top_level: bool = False,
        engine: str | None = None,
        skip_iteration: int | None = None,
        events: bool = False,
        paths: str | None = None,
        leaves: bool = False,
        per_call: bool = False,
        all: bool = False,
        named: str | None = None,
        min_duration: str | None = None,
        merge_threads: bool = False,
        ranges: str | None = None,
        # [tools/generate end]
    ) -> None: ...
    def format(self, form: Literal["text", "csv", "json", "md", "html"], width: int = 0) -> str: ...
    def rows(self) -> list[dict[str, Any]]: ...
    def __repr__(self) -> str: ...
