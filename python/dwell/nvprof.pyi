import os
from typing import Any

def load_nvprof(path: str | os.PathLike[str]) -> Any: ...
