#!/usr/bin/python3
"""Profile objects in programs that end badly, and in several threads at once.

usage: torch_faults_test.py path/to/dwell

Each program opens a dwell.profile() under `dwell run`. How it ends must be as the program
says, and what it recorded until then must be in the trace.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile

import forked
import installed

TORCH = installed.need("torch")

HEAD = """
import os, signal, sys, threading, time, torch, dwell
def run(name, count):
    for i in range(count): getattr(torch.ones(4), name)()
def counts(profile): return {e.key: e.count for e in profile.key_averages()}
"""
INSIDE = "with dwell.profile(activities=[dwell.ProfilerActivity.CPU]) as p:\n    run('sin_', 3)\n"
THREADS = """
ready, found = threading.Barrier(2), {}
def other():
    ready.wait(30)
    with dwell.profile(activities=[dwell.ProfilerActivity.CPU]) as p: run("cos_", 3)
    found.update(counts(p))
    ready.wait(30)
thread = threading.Thread(target=other)
thread.start()
with dwell.profile(activities=[dwell.ProfilerActivity.CPU]) as p:
    run("sin_", 1); ready.wait(30); ready.wait(30); run("sin_", 2)
thread.join()
mine = counts(p)
print(mine.get("aten::sin_"), mine.get("aten::cos_"), found.get("aten::cos_"), found.get("aten::sin_"))
"""

MANY = """
with dwell.profile(activities=[dwell.ProfilerActivity.CPU]) as p:
    threads = [threading.Thread(target=run, args=("sin_", 1)) for _ in range(500)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print(counts(p)["aten::sin_"])
"""
SHADOW = """
class record_function:
    def __init__(self, *arguments): pass
    def __enter__(self): raise KeyError("enter")
    def __exit__(self, *error): return False
torch.profiler.record_function = torch.autograd.profiler.record_function = dwell.record_function = record_function
with dwell.profile(activities=[dwell.ProfilerActivity.CPU]) as p:
    try:
        with torch.profiler.record_function("mine"): run("cos_", 1)
    except KeyError: run("sin_", 3)
print(counts(p)["aten::sin_"])
"""
# Numbers and truth values in place of tensors, and calls that PyTorch refuses.
TYPES = """
errors = []
with dwell.profile(activities=[dwell.ProfilerActivity.CPU], record_shapes=True, with_flops=True) as p:
    run("sin_", 3)
    x = torch.ones(4)
    x.add_(True); x.add_(2); torch.ops.aten.add_(x, 3.5); torch.ops.aten.mul(x, False, ); torch.where(x > 1, 1, 0.5)
    for wrong in (lambda: x.add_("1"), lambda: torch.ops.aten.add_(x, object())):
        try: wrong()
        except (TypeError, RuntimeError) as error: errors.append(type(error).__name__)
print(counts(p)["aten::sin_"], *errors)
"""

# name, script, status, output, a line of its errors, times that aten::sin_ is in the trace
PROGRAMS = (
    ("sys.exit", INSIDE + "    sys.exit(4)", 4, "", "", 3),
    ("an exception", INSIDE + "    raise ValueError('mine')", 1, "", "ValueError: mine", 3),
    ("os._exit", INSIDE + "    os._exit(5)", 5, "", "", 3),
    ("SIGINT", INSIDE + "    os.kill(os.getpid(), signal.SIGINT); time.sleep(30)", -signal.SIGINT, "",
     "KeyboardInterrupt", 3),
    ("SIGKILL", INSIDE + "    os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, "", "", 3),
    ("os._exit in a worker", INSIDE + "    if os.fork() == 0: run('sin_', 1); os._exit(3)\n"
     "    print(os.waitstatus_to_exitcode(os.wait()[1]))\n", 0, "3\n", "", 4),
    ("a profile in another thread meanwhile", THREADS, 0, "3 None 3 None\n", "", 3),
    ("500 threads", MANY, 0, "500\n", "", 500),
    ("a class in place of record_function", SHADOW, 0, "3\n", "", 3),
    ("arguments of other types than the schema's", TYPES, 0, "3 TypeError RuntimeError\n", "", 3),
)
# Another install of PyTorch, in the same trace: Debian's.
OTHER = "/usr/bin/python3"
TWO = f"""
import subprocess
run("sin_", 3)
print(subprocess.run([{OTHER!r}, "-c", "import torch; torch.ones(4).sin_(); print(torch.__version__ == " +
                      repr(torch.__version__) + ")"], capture_output=True, text=True, check=True).stdout, end="")
"""


def programs():
    if installed.place("torch").startswith(os.path.dirname(os.path.realpath(OTHER))[:4] + "/lib/python3/"):
        print("skip two installs of PyTorch: this is the one that the test starts as the other")
    elif subprocess.run([OTHER, "-c", "import importlib.util, sys; sys.exit(not importlib.util.find_spec('torch'))"], capture_output=True, check=False).returncode:
        print(f"skip two installs of PyTorch: {OTHER} has none")
    else:
        return (*PROGRAMS, ("two installs of PyTorch", TWO, 0, "False\n", "", 4))
    return PROGRAMS


def sines(dwell, trace):
    done = subprocess.run([dwell, "report", "--view", "operators", "--format", "json", trace],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return 0
    view = json.loads(done.stdout)["views"][0]
    names = [column["name"] for column in view["columns"]]
    rows = [dict(zip(names, row)) for row in view["rows"]]
    return sum(row["calls"] for row in rows if row["name"] == "aten::sin_")


def main():
    # What a shell starts in the background ignores it, and so would the scripts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    dwell, failures = os.path.abspath(sys.argv[1]), 0
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(dwell),
                       PYTHONPATH=os.path.join(root, "python"))

    server = forked.Server(env=environment)
    for name, script, status, output, said, wanted in programs():
        with tempfile.TemporaryDirectory() as folder:
            trace, program = os.path.join(folder, "t.dwell"), os.path.join(folder, "program.py")
            with open(program, "w", encoding="utf-8") as file:
                file.write(HEAD + script)
            done = server.run(dwell, "--cost", "full", "-o", trace, script=program, env=environment)
            found = sines(dwell, trace)
        passed = (done.returncode == status and done.stdout == output and said in done.stderr
                  and found == wanted)
        failures += not passed
        print(f"{'ok  ' if passed else 'FAIL'} {name}: status {done.returncode}, {found} of {wanted} operators" +
              ("" if passed else f"\n{done.stdout}{done.stderr[-800:]}"))
    print(f"PyTorch {TORCH}: {'failed' if failures else 'all passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) == 2 else __doc__)
