"""Which packages this Python has, found without importing them: PyTorch takes two seconds. What is compiled with their headers."""
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

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


def compile_once(package, command, made, *sources, text=""):
    """Makes the file `made` by a compiler's command with the headers of a package, or copies what the same command made of the
    same sources on this machine before: PyTorch's headers take 15 s. `text`: what the compiler reads from its standard input."""
    key = hashlib.sha256()
    for part in (need(package), place(package), subprocess.run([command[0], "--version"], check=True, capture_output=True, text=True).stdout,
                 *(os.path.basename(part) if part in sources else part for part in command), text):
        key.update(part.encode() + b"\0")
    for source in sources:
        with open(source, "rb") as file:
            key.update(file.read())
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "dwell", "compiled")
    kept = os.path.join(cache, key.hexdigest()[:24])
    if not os.path.exists(kept):
        subprocess.run([*command, "-o", made], input=text, text=True, check=True)
        try:  # where nothing can be kept, nothing is
            os.makedirs(cache, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=cache, delete=False) as file:
                pass
            shutil.copy2(made, file.name)
            os.replace(file.name, kept)
        except OSError:
            pass
        return
    shutil.copy2(kept, made)
