#!/usr/bin/python3
"""What `dwell run` does to Python programs: nothing that they could see.

usage: torch_attach_test.py path/to/dwell [--hooks]

--hooks: only the programs for which PyTorch's version matters. Each program runs alone and under `dwell run`: output, errors and exit status must be the
same. Those that import PyTorch must leave its operators in the trace, from every process
that they start and however they start it.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import installed

TORCH = installed.need("torch")

OPERATORS = "import torch\nfor i in range(3): torch.ones(4).sin_()\n"
WORKERS = """
import multiprocessing, os, subprocess, sys, threading
def work(i):
    import torch
    return float(torch.ones(4).sin_().sum()) > 0
if __name__ == "__main__":
    with multiprocessing.get_context("{}").Pool(2) as pool:
        print(pool.map(work, range(4), chunksize=1))
"""
COMPATIBLE = """
import copy, inspect, pickle, torch, torch.nn as nn
net, x = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), torch.ones(1, 3)
copy.deepcopy(net)(x), pickle.loads(pickle.dumps(net))(x), net.__call__(x)
torch.jit.script(net)(x), torch.jit.trace(net, x)(x), torch.fx.symbolic_trace(net)(x)
for function in (torch.save, torch.autograd.backward, nn.Module.__call__):
    print(function.__name__, function.__module__, function.__doc__ and len(function.__doc__),
          inspect.signature(function), pickle.loads(pickle.dumps(function)).__name__)
class Own(nn.Linear):
    def __call__(self, *args): return super().__call__(*args)
optimizer = torch.optim.SGD(Own(3, 4).parameters(), lr=.1)
torch.optim.lr_scheduler.OneCycleLR(optimizer, .1, total_steps=10).step()
copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer)).step()
if hasattr(torch, "compile"):
    print(torch.compile(net, backend="eager", fullgraph=True)(x).shape)
with torch.autograd.profiler.profile(profile_memory=True) as profile:
    torch.ones(1000)
print([(e.key, e.count) for e in profile.key_averages()])
"""

# Attaching must not make PyTorch import what the program does not need: SymPy alone takes half a second.
MODULES = """
import sys, torch
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=.1)
for i in range(3):
    optimizer.zero_grad()
    net(torch.ones(2, 4)).sum().backward()
    optimizer.step()
print("\\n".join(sorted(sys.modules)))
net(torch.ones(1, 7))
"""

# name, arguments, times that aten::sin_ must be in the trace
PROGRAMS = (
    ("a script's status", ["-c", "raise SystemExit(7)"], 0),
    ("a traceback", ["-c", "def f(): 1 / 0\nf()"], 0),
    ("the modules of a training loop, and a traceback through one of its own", ["-c", MODULES], 0),
    ("os._exit", ["-c", OPERATORS + "import os; os._exit(5)"], 3),
    ("abort", ["-c", OPERATORS + "import os; os.abort()"], 3),
    ("a module", ["-m", "this"], 0),
    ("isolated", ["-I", "-c", OPERATORS], 3),
    ("without environment and site", ["-E", "-c", OPERATORS], 3),
    ("development mode", ["-X", "dev", "-c", OPERATORS], 3),
    ("fork", ["FILE", WORKERS.format("fork")], 4),
    ("spawn", ["FILE", WORKERS.format("spawn")], 4),
    ("a subprocess", ["-c", "import subprocess, sys\nsubprocess.run([sys.executable, '-I', '-c', "
                      f"{OPERATORS!r}])"], 3),
    ("a daemon thread", ["-c", OPERATORS + """
import threading, time
def run():
    while True: torch.ones(4).cos_()
threading.Thread(target=run, daemon=True).start(); time.sleep(.1)"""], 3),
    ("an abort in a worker", ["-c", OPERATORS + """
import multiprocessing, os
def work():
    torch.ones(4).sin_(); os.abort()
process = multiprocessing.get_context("fork").Process(target=work)
process.start(); process.join(); print(process.exitcode)"""], 4),
    ("SIGKILL", ["-c", OPERATORS + "import os; os.kill(os.getpid(), 9)"], 3),
    ("os._exit in a worker", ["-c", OPERATORS + """
import os
if os.fork() == 0:
    torch.ones(4).sin_(); os._exit(3)
print(os.waitstatus_to_exitcode(os.wait()[1]))"""], 4),
    ("what PyTorch can do with hooked functions", ["FILE", COMPATIBLE], 0),
)
# How these start and end has nothing to do with the version of PyTorch.
ANY_VERSION = ("a script's status", "a traceback", "os._exit", "abort", "a module", "isolated",
               "without environment and site", "development mode", "fork", "spawn", "a subprocess", "an abort in a worker",
               "SIGKILL", "os._exit in a worker")
# Exit status and output of programs that need not run alone, since importing PyTorch takes two seconds.
ALONE = {"os._exit": (5, ""), "abort": (-signal.SIGABRT, ""), "isolated": (0, ""), "without environment and site": (0, ""),
         "fork": (0, "[True, True, True, True]\n"), "spawn": (0, "[True, True, True, True]\n"), "an abort in a worker": (0, "-6\n"), "SIGKILL": (-signal.SIGKILL, ""), "os._exit in a worker": (0, "3\n")}


def said(errors):
    """Without dwell's own lines and those of PyTorch that hold the time and the process."""
    return [line for line in errors.splitlines() if not line.startswith(("dwell: ", "USDT:"))]


def sines(dwell, trace):
    done = subprocess.run([dwell, "report", "--view", "operators", "--format", "json", trace],
                          capture_output=True, text=True)
    if done.returncode:
        return 0
    view = json.loads(done.stdout)["views"][0]
    names = [column["name"] for column in view["columns"]]
    rows = [dict(zip(names, row)) for row in view["rows"]]
    return sum(row["calls"] for row in rows if row["name"] == "aten::sin_")


def interrupt(dwell, folder):
    """SIGINT reaches the script as KeyboardInterrupt, and the trace is whole."""
    trace = os.path.join(folder, "interrupt.dwell")
    process = subprocess.Popen([dwell, "run", "--cost", "full", "-o", trace, sys.executable, "-c", OPERATORS +
                                "import time; print('ready', flush=True); time.sleep(60)"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    time.sleep(.1)
    process.send_signal(signal.SIGINT)
    errors = process.communicate()[1]
    return process.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors and sines(dwell, trace) == 3


def read_only(dwell, folder):
    """In a folder that cannot be written to the trace goes where temporary files are; None: no
    such folder can be made here."""
    inside = f'mount -t tmpfs -o ro none "{folder}" && cd "{folder}" && exec "$@"'
    if subprocess.run(["unshare", "--mount", "sh", "-c", inside, "sh", "true"],
                      capture_output=True, check=False).returncode:
        return None
    with tempfile.TemporaryDirectory() as temporary:
        done = subprocess.run(["unshare", "--mount", "sh", "-c", inside, "sh", dwell, "run", "sh", "-c", "exit 3"],
                              env={**os.environ, "TMPDIR": temporary}, capture_output=True, text=True, check=False)
        return (done.returncode == 3 and "cannot be written to" in done.stderr
                and os.path.exists(os.path.join(temporary, "sh.dwell")))


def main():
    # What a shell starts in the background ignores it, and so would the scripts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    dwell, failures = os.path.abspath(sys.argv[1]), 0

    def check(name, passed, detail=""):
        nonlocal failures
        failures += not passed
        print(f"{'ok  ' if passed else 'FAIL'} {name}{': ' if detail else ''}{detail}")

    with tempfile.TemporaryDirectory() as folder:
        trace, script = os.path.join(folder, "t.dwell"), os.path.join(folder, "script.py")
        programs = [each for each in PROGRAMS if "--hooks" not in sys.argv or each[0] not in ANY_VERSION]
        for name, arguments, wanted in programs:
            if arguments[0] == "FILE":
                with open(script, "w", encoding="utf-8") as file:
                    file.write(arguments[1])
                arguments = [script]
            command = [sys.executable, "-W", "ignore", *arguments]
            # Some programs end one way or the other by chance: PyTorch aborts when a daemon
            # thread is in an operator as the interpreter ends.
            for _ in range(10):
                alone = (subprocess.CompletedProcess(command, *ALONE[name], "") if name in ALONE else
                         subprocess.run(command, capture_output=True, text=True))
                under = subprocess.run([dwell, "run", "--cost", "full", "-o", trace, *command], capture_output=True, text=True)
                if (alone.returncode == -signal.SIGABRT) == (under.returncode == -signal.SIGABRT):
                    break
            ours, theirs = said(under.stderr), said(alone.stderr)
            check(f"{name}: as without dwell",
                  (alone.returncode, alone.stdout, theirs) == (under.returncode, under.stdout, ours),
                  f"status {under.returncode}" +
                  ("" if (alone.stdout, theirs) == (under.stdout, ours) else
                   f"\n{alone.stdout}{alone.stderr}--\n{under.stdout}{under.stderr}"))
            if wanted:
                found = sines(dwell, trace)
                check(f"{name}: its operators", found == wanted, f"{found} of {wanted}")
        if "--hooks" not in sys.argv:
            check("SIGINT", interrupt(dwell, folder))
            os.mkdir(os.path.join(folder, "read-only"))
            kept = read_only(dwell, os.path.join(folder, "read-only"))
            if kept is None:
                print("skip a read-only folder: none can be made here")
            else:
                check("a read-only folder", kept)
    print(f"PyTorch {TORCH}: {'failed' if failures else 'all passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) >= 2 else __doc__)
