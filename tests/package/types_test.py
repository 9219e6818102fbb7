#!/usr/bin/env python3
"""The types of the package are true: mypy's stubtest on the installed package, and a program that uses it.

usage: PYTHON types_test.py, a Python that has dwell and mypy. Last line: N passed, N failed
"""
import os
import subprocess
import sys
import tempfile

CONFIG = """
[mypy]
ignore_missing_imports = True
[mypy-dwell.*]
ignore_errors = True
"""
# What ctypes makes of C's structures and other private classes, names that only type checkers import, and a list that is computed.
ALLOWED = r"""
dwell\._native\..*
dwell\.\w+\._\w+\..*
dwell\.(ignite|pytest_plugin|otlp)
dwell\.(lightning|torchprof)\.(Module|EventList)
dwell\.__all__
"""
USE = """
import dwell
with dwell.profile(schedule=dwell.schedule(wait=1, warmup=1, active=2)) as prof:
    prof.step()
total: float = prof.key_averages().self_cpu_time_total
rows: list[dict[str, object]] = prof.view("operators", sort="calls").rows()
verdicts: list[dict[str, object]] = prof.summary()["verdicts"]
reveal_type(prof.key_averages()[0])
dwell.profile(record_shape=True)
"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("mypy.ini", CONFIG), ("allowed.txt", ALLOWED), ("use.py", USE)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        stubtest = subprocess.run(
            [sys.executable, "-m", "mypy.stubtest", "dwell", "--concise", "--ignore-unused-allowlist",
             "--mypy-config-file", "mypy.ini", "--allowlist", "allowed.txt"],
            cwd=folder, capture_output=True, text=True, check=False)
        use = subprocess.run([sys.executable, "-m", "mypy", "use.py"], cwd=folder,
                             capture_output=True, text=True, check=False)
    results = {
        "the types are those of the package": stubtest.returncode == 0,
        "mypy knows a row's type": "FunctionEventAvg" in use.stdout,
        "mypy finds a wrong argument": 'Unexpected keyword argument "record_shape"' in use.stdout,
        "and nothing else": "Found 1 error" in use.stdout,
    }
    for what, good in results.items():
        print(("ok   " if good else "FAIL ") + what)
    failed = list(results.values()).count(False)
    if failed:
        print(stubtest.stdout, stubtest.stderr, use.stdout, use.stderr)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
