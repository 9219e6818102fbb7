"""Which packages this Python has, found without importing them: PyTorch takes two seconds."""
import importlib.metadata
import importlib.util
import os
import sys

# Begins a script that trains briefly. PyTorch 2 imports its compiler when the first optimizer is made, to
# mark a few of its methods as not to be compiled; nothing is compiled here, and the import is half of such a
# script's time. Steps and tools/measure/verdicts are tested with the real one.
LIGHT = """
import sys, types
sys.modules["torch._dynamo"] = compiler = types.ModuleType("torch._dynamo")
compiler.disable = lambda function, *rest, **named: function
compiler.graph_break = lambda: None
compiler.trace_rules = types.SimpleNamespace(clear_lru_cache=lambda: None)
compiler.OptimizedModule = type("OptimizedModule", (), {})
"""


def need(package):
    """The version of a package; without it the test ends as skipped."""
    if importlib.util.find_spec(package) is None:
        test = os.path.splitext(os.path.basename(sys.argv[0]))[0]
        print(f"skip {test}: this Python has no {package}")
        sys.exit(77)
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"


def place(package):
    """The file of a package that is there."""
    return importlib.util.find_spec(package).origin
