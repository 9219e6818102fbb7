#!/usr/bin/env python3
"""Programs with ONNX Runtime are recorded without a change; onnx_standin.c stands for the library.

usage: onnx_test.py BUILD        last line: N passed, N failed
"""
import functools
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import announced

BUILD = os.path.abspath(sys.argv[1])
SOURCES = os.path.dirname(os.path.abspath(__file__))
CC = os.environ.get("CC", "cc").split()
Run = functools.partial(announced.Run, os.path.join(BUILD, "dwell"))
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def test_program(program, folder):
    run = Run(program)
    check(f"the program gets its results: {run.done.stdout}", run.done.returncode == 0 and
          run.done.stdout == "session of model, profiler: none\n")
    check("a step for each call of Run() and RunWithBinding()",
          run.steps() == 9 and run.count("Run.ONNX Runtime") + run.count("Run") == 9)
    for phase in "be":
        count = len([event for event in run.events if event["name"].startswith("RunAsync") and event["ph"] == phase])
        check(f"each call of RunAsync(), '{phase}': {count}", count == 301)
    check("nothing is lost", run.lost() == 0)
    check("sessions", run.count("CreateSession") == 1)
    info = subprocess.run([os.path.join(BUILD, "dwell"), "info", "t.dwell"], capture_output=True, text=True, check=True)
    check("the version", "onnxruntime.recorded = 1.24.9" in info.stdout)

    run = Run(program, arguments=["--shapes"])
    prefix = os.path.join(folder, "t.dwell.onnx")
    check(f"--shapes starts the profiler: {run.done.stdout}",
          run.done.stdout == f"session of model, profiler: {prefix}\nreleased the copy\n")
    check("where the nodes are is said", run.said(f"ONNX Runtime wrote the nodes of its runs to {prefix}_*.json"))
    test_nodes(program)
    run = Run(program, "mine", arguments=["--shapes"])
    check("the program's own profiler stays", run.done.stdout == "session of model, profiler: mine\n")
    run = Run(program, arguments=["--no-onnx"])
    check("--no-onnx", run.done.returncode == 0 and run.is_empty())


def test_nodes(program):
    """From 1.25 on, the nodes are operators of their run: where they were, though samples were taken in between."""
    folders = set(glob.glob("/dev/shm/dwell-onnx-*") + glob.glob("/tmp/dwell-onnx-*"))
    run = Run(program, arguments=["--shapes"], STANDIN_VERSION="1.25.0")
    check(f"no profiler of the session: {run.done.stdout}", run.done.stdout == "session of model, profiler: none\n")
    check("nothing is left", set(glob.glob("/dev/shm/dwell-onnx-*") + glob.glob("/tmp/dwell-onnx-*")) <= folders)

    def ask(question):
        done = subprocess.run([os.path.join(BUILD, "dwell"), "query", "--format", "csv", "t.dwell", question],
                              capture_output=True, text=True, check=True)
        return [line.split(",") for line in done.stdout.splitlines()[1:]]
    rows = ask("select name, count(*), sum(duration_ns) / count(*) / 100000, min(depth) from ranges where name in "
               "('MatMul', 'Loop', 'Relu', 'Conv') group by name order by name")
    check(f"nodes with their times: {rows}",
          [(row[0], row[1], round(float(row[2]) / 10)) for row in rows] == [("Conv", "6", 2), ("Loop", "6", 30), ("MatMul", "12", 10), ("Relu", "6", 5)])
    check(f"nodes of another thread are lost if they overlap: {run.lost()}", run.lost() == 12)
    rows = ask("select duration_ns / 100 from ranges where name = 'Abs'")
    check(f"a node of no whole microsecond takes half of one: {rows}", len(rows) == 6 and all(4 <= int(row[0]) <= 5 for row in rows))
    rows = ask("select cast(round((p.start_ns - r.start_ns) / 1e6) as integer) from ranges p join ranges r on p.step = r.step "
               "where p.name = 'dwell: nodes of ONNX Runtime' and r.name = 'Loop'")
    check(f"what the profile costs begins after the run, in any thread: {rows}", rows == [["40"]] * 6)
    samples = ask("select sum(samples) from hot")
    check(f"samples are taken in such runs: {samples}", float(samples[0][0]) > 3)
    info = subprocess.run([os.path.join(BUILD, "dwell"), "info", "t.dwell"], capture_output=True, text=True, check=True)
    check("what it costs is said", "onnxruntime.nodes = by the profile of each run" in info.stdout)


PACKAGE = {
    "__init__.py": """
__version__ = "8.8.8"


class SessionOptions:
    enable_profiling, profile_file_prefix = False, "onnxruntime_profile"


from .capi.onnxruntime_inference_collection import InferenceSession
""",
    "capi/__init__.py": "",
    "capi/onnxruntime_inference_collection.py": """
class InferenceSession:
    def __init__(self, path_or_bytes, sess_options=None, providers=None):
        self.profiles = sess_options is not None and sess_options.enable_profiling
        print(path_or_bytes, providers, sess_options.profile_file_prefix if self.profiles else None)

    def run(self, names, feeds):
        return [feeds["x"] * 2]

    def run_with_iobinding(self, binding, run_options=None):
        return binding * 3

    def end_profiling(self):
        print("profile ended")
""",
}
SCRIPT = """
import onnxruntime
options = onnxruntime.SessionOptions()
options.enable_profiling = {profiles}
session = onnxruntime.InferenceSession("model", options, providers=["here"])
results = [session.run(None, {{"x": i}}) for i in range(4)]
assert session.run_with_iobinding(2, run_options=None) == 6
assert results == [[0], [2], [4], [6]] and options.enable_profiling == {profiles}
"""


def test_python(folder):
    """A package that looks like ONNX Runtime's."""
    for name, text in PACKAGE.items():
        os.makedirs(os.path.dirname(os.path.join(folder, "onnxruntime", name)), exist_ok=True)
        with open(os.path.join(folder, "onnxruntime", name), "w", encoding="utf-8") as file:
            file.write(text)
    path = os.pathsep.join((os.path.join(SOURCES, "../../python"), folder))

    def run(profiles, *options):
        with open("script.py", "w", encoding="utf-8") as file:
            file.write(SCRIPT.format(profiles=profiles))
        return Run(sys.executable, "script.py", arguments=options, PYTHONPATH=path)
    done = run(False)
    check(f"a step for each run in Python: {done.done.stdout}{done.done.stderr}", done.steps() == 5 and
          done.done.stdout == "model ['here'] None\n")
    prefix = os.path.join(folder, "t.dwell.onnx")
    done = run(False, "--shapes")
    check(f"--shapes starts the profiler in Python: {done.done.stdout}",
          done.done.stdout == f"model ['here'] {prefix}\nprofile ended\n")
    check("the script's own profiler stays", run(True, "--shapes").done.stdout == "model ['here'] onnxruntime_profile\n")


def main():
    folder = os.path.realpath(tempfile.mkdtemp(prefix="dwell-onnx-"))
    os.chdir(folder)
    library, program = os.path.join(folder, "libonnxruntime.so.1"), os.path.join(folder, "program")
    subprocess.run([*CC, "-O1", "-shared", "-fPIC", os.path.join(SOURCES, "onnx_standin.c"), "-o", library,
                    "-Wl,-soname,libonnxruntime.so.1", "-pthread"], check=True)
    subprocess.run([*CC, "-O1", os.path.join(SOURCES, "onnx_program.c"), library, "-Xlinker", f"-rpath={folder}", "-o", program], check=True)
    test_program(program, folder)
    if os.path.exists(os.path.join(BUILD, "probes/libdwell-python.so")):
        test_python(folder)
    shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
