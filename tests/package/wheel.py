#!/usr/bin/env python3
"""The wheel, installed where there is neither a compiler nor anything else of ours.

usage: wheel.py path/to/dwell.whl [python with PyTorch]

The virtual environment is made with the Python that runs this; PyTorch and Ignite, when they are
given, are lent to it by a .pth file. DWELL_EMULATED=1 leaves out what an emulated processor cannot
do. Exit status 0: all checks pass; 1: one failed.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile

FIRST_REPORT_SECONDS, MOST_BYTES = 60, 6000000
SCRIPT = """
import time, dwell
def slow():
    time.sleep(0.03)
with dwell.record_function("outside"):
    slow()
print("ran")
"""
TORCH = """
import torch, dwell
with dwell.profile(record_shapes=True) as prof:
    torch.ones(4, 4) @ torch.ones(4, 4)
print(prof.key_averages().table(sort_by="self_cpu_time_total"))
"""
# The extension on an object that has what it uses of an engine of Ignite.
ENGINE = """
import gc, logging, types
from dwell import _ignite
calls = []
engine = types.SimpleNamespace(
    logger=logging.getLogger("engine"), state=types.SimpleNamespace(epoch=1, iteration=1),
    _allowed_events=["STARTED"], _event_handlers={"STARTED": [(calls.append, (), {})]})
recorder = _ignite.Recorder(engine, "engine", True)
recorder.enter_run()
recorder.fire("STARTED", 7)
recorder.leave_run()
print(calls, recorder.handlers()[2][0][:2])
engine.recorder = recorder  # a cycle
del recorder, engine
gc.collect()
"""
IGNITE = """
from ignite.engine import Engine, Events
from dwell.ignite import HandlersTimeProfiler
engine, profiler = Engine(lambda engine, batch: batch), HandlersTimeProfiler()
profiler.attach(engine)
@engine.on(Events.ITERATION_COMPLETED(every=2))
def handler(engine):
    pass
engine.run([1, 2, 3, 4])
print([row[:2] for row in profiler.get_results() if row[0] == "handler"])
"""
counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


def see_others(run, python, own, version):
    """Another project's "dwell": its files beside ours, then in the place of our package."""
    home = run(python, "-c", "import dwell, os; print(os.path.dirname(os.path.dirname(dwell.__file__)))")[1].strip()
    first, kept, other = (os.path.join(home, *parts) for parts in (("dwell", "__init__.py"), ("dwell", "ours.py"), ("dwell-1.0.0a3.dist-info",)))
    os.mkdir(other)
    status, output, error = run(python, "-c", "import dwell; print(dwell.DISTRIBUTION)")
    check("another package of the name is said at import", status == 0 and output == own + "\n" and "another package of the name 'dwell'" in error
          and f"uninstall dwell {own}" in error, output + error)
    os.rename(first, kept)
    with open(first, "w", encoding="utf-8") as file:
        file.write("# another project\n")
    status, output, error = run("dwell", "--version")
    check("another project's package is said by the command", status == 0 and output == version and "is another project's" in error and own in error, error)
    os.replace(kept, first)
    os.rmdir(other)
    status, output, error = run(python, "-c", "import dwell")
    check("nothing is said otherwise", status == 0 and not error, error)


def main():
    wheel, lender = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
    folder = tempfile.mkdtemp(prefix="dwell-wheel-")
    venv = os.path.join(folder, "venv")
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    python = os.path.join(venv, "bin", "python")
    env = {"PATH": os.path.join(venv, "bin"), "HOME": folder, "LC_ALL": "C.UTF-8"}

    def run(*command):
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True,
                              timeout=600, check=False)
        return done.returncode, done.stdout, done.stderr

    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        named = [content.read(name).decode() for name in names if name.endswith(".dist-info/METADATA")]
        points = [content.read(name).decode() for name in names if name.endswith(".dist-info/entry_points.txt")]
        needs = {name: max(map(int, re.findall(rb"GLIBC_2\.(\d+)\0", content.read(name))), default=0) for name in names
                 if re.search(r"\.so(\.\d+)?$|/bin/dwell$", name)}
    check("its name says that it is for every Python and for glibc 2.28", "-py3-none-manylinux_2_28_" in wheel, wheel)
    check("it is under 6 MB", os.path.getsize(wheel) < MOST_BYTES, os.path.getsize(wheel))
    check("nothing in it needs a newer glibc", len(needs) > 10 and max(needs.values()) <= 28, needs)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../pyproject.toml"), encoding="utf-8") as file:
        own = re.search(r'^name = "(.*)"$', file.read(), re.M)[1]
    check("it has the project's name", f"\nName: {own}\n" in named[0] and os.path.basename(wheel).startswith(own.replace("-", "_") + "-"), wheel)
    check("it has the licenses of its libraries", sum("/LICENSE." in name for name in names) == 8, names)
    check("it has the headers", "dwell/include/dwell/dwell.h" in names, names)
    check("and the library that the page of a C program links", "dwell/lib/libdwell.so.0" in names, names)
    check("it has the fixture for pytest", any(re.search(r"\[pytest11\]\s+dwell *= *dwell\.pytest_plugin\s", text) for text in points), points)
    check("it says that it has types", "dwell/py.typed" in names, names)

    status, _, error = run(python, "-m", "pip", "install", "--no-index", "--no-deps", "-q", wheel)
    check("it installs without a compiler", status == 0, error)
    status, output, error = run("dwell", "--version")
    check("the command", status == 0 and output.startswith("dwell "), output + error)
    status, again, _ = run(python, "-m", "dwell", "--version")
    check("python -m dwell", status == 0 and again == output, again)

    see_others(run, python, own, again)

    with open(os.path.join(folder, "script.py"), "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    status, output, error = run("dwell", "run", "--functions", "-o", "a.dwell", "--", "python", "script.py")
    check("dwell run", status == 0 and output == "ran\n", output + error)
    status, output, error = run("dwell", "report", "a.dwell", "--view", "tree", "--format", "json")
    check("a report", status == 0 and "outside" in output, output + error)
    seconds = time.monotonic() - began
    check(f"from an empty environment to the first report: {seconds:.0f} s, at most {FIRST_REPORT_SECONDS}",
          seconds <= FIRST_REPORT_SECONDS or os.environ.get("DWELL_EMULATED"))
    status, output, error = run("dwell", "report", "a.dwell", "--view", "functions", "--format", "csv")
    check("Python's functions", status == 0 and "slow" in output, output + error)
    status, output, error = run("dwell", "serve", "--help")
    check("dwell serve has its library", status == 0, output + error)
    status, output, error = run("dwell", "query", "--format", "csv", "a.dwell",
                                "select count(*) from ranges where name = 'outside'")
    check("dwell query has its library", status == 0 and output.split()[-1:] == ["1"], output + error)
    status, output, error = run("dwell", "pack", "a.dwell", "-o", "packed.dwell")
    check("dwell pack has its library", status == 0, output + error)
    status, output, error = run(python, "-c", ENGINE)
    check("the extension for Ignite", output == "[7] ('list.append', 'STARTED')\n" and not error, output + error)
    if not os.environ.get("DWELL_EMULATED"):
        with subprocess.Popen([python, "-c", "import time; print(flush=True); time.sleep(600)"], env=env,
                              stdout=subprocess.PIPE) as sleeper:
            sleeper.stdout.readline()
            status, output, error = run("dwell", "stacks", str(sleeper.pid))
            sleeper.kill()
        check("dwell stacks has its library", status == 0 and "<module>" in output, output + error)

    if lender:
        said = subprocess.run([lender, "-c", "import torch; print(torch.__path__[0])"],
                              capture_output=True, text=True, check=True).stdout.strip()
        home = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                              capture_output=True, text=True, check=True).stdout.strip()
        with open(os.path.join(home, "lent.pth"), "w", encoding="utf-8") as file:
            file.write(os.path.dirname(said) + "\n")
        with open(os.path.join(folder, "torch_script.py"), "w", encoding="utf-8") as file:
            file.write(TORCH)
        status, output, error = run(python, "torch_script.py")
        check("dwell.profile on PyTorch", status == 0 and "aten::mm" in output, output + error)
        status, output, error = run(python, "-c", IGNITE)
        check("dwell.ignite on Ignite", output == "[['handler', 'ITERATION_COMPLETED']]\n", output + error)
        status, output, error = run("dwell", "run", "-o", "b.dwell", "--", "python", "torch_script.py")
        check("and under dwell run", status == 0 and "aten::mm" in output, output + error)
        status, output, error = run("dwell", "report", "b.dwell", "--view", "operators", "--format", "json")
        calls = {row[0]: row for row in json.loads(output)["views"][0]["rows"]} if status == 0 else {}
        check("operators of the run", "aten::mm" in calls, output + error)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
