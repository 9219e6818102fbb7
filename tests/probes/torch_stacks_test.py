#!/usr/bin/python3
"""Where in Python operators were called: against lines that are known, and torch.profiler's.

usage: torch_stacks_test.py path/to/dwell

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import json
import os
import subprocess
import sys
import tempfile

import forked
import installed

TORCH = installed.need("torch")
SERVER = forked.Server(light=False)

SCRIPT = """import sys, threading, torch
def inner(x):
    return x.matmul(x)
class Net(torch.nn.Module):
    def forward(self, x):
        return inner(x).relu()
def deep(n):
    return deep(n - 1) if n else torch.ones(2).cos()
def of_thread():
    torch.ones(2).tan()
def generate():
    yield torch.ones(2).sinh()
x = torch.ones(4, 4, requires_grad=True)
Net()(x).sum().backward()
deep(300)
thread = threading.Thread(target=of_thread)
thread.start()
thread.join()
list(generate())
exec(compile("torch.ones(2).acos()", "made.py", "exec"))
code = compile("torch.ones(2).asin()", "first.py", "exec"); exec(code)
del code
code = compile("torch.ones(2).asin()", "second.py", "exec"); exec(code)
"""
# Script functions, one that calls another and a loop in one, and a scripted module; with an
# argument under torch.profiler, whose stacks go to that file.
SCRIPTED = """import json, sys, torch
@torch.jit.script
def helper(x):
    return x.sin() + 1
@torch.jit.script
def outer(x):
    y = helper(x)
    for i in range(2):
        y = y.tan()
    return y.cos()
class Net(torch.nn.Module):
    def forward(self, x):
        return torch.exp(x) * 2
net = torch.jit.script(Net())
def call(x):
    return outer(net(x))
x = torch.ones(3)
@torch.jit.script
def in_pool(x):
    return x.cosh()
@torch.jit.script
def waits(x):
    return torch.jit.wait(torch.jit.fork(in_pool, x)).sinh()
if not sys.argv[1:]:
    call(x)
    waits(x)
    sys.exit()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True) as theirs:
    call(x)
with open(sys.argv[1], "w") as file:
    file.write(json.dumps([(event.name, event.stack) for event in theirs.events()]))
"""
SCRIPTED_NAMES = ("aten::sin", "aten::add", "aten::tan", "aten::cos", "aten::exp", "aten::mul")
# A daemon thread that runs operators while the interpreter ends: a third of such programs
# are aborted by PyTorch, with dwell or without. They must end, and their trace be whole.
DAEMON = """
import threading, time, torch
def work():
    while True:
        torch.ones(2).add_(1)
        time.sleep(0.0005)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


def stacks(dwell, trace):
    output = subprocess.run([dwell, "report", trace, "--view", "operators", "--group-by", "stack:200",
                             "--limit", "all", "--format", "json"], capture_output=True, text=True, check=True)
    table = json.loads(output.stdout)["views"][0]
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row)) for row in table["rows"]]
    found = {}
    for row in rows:
        found.setdefault(row["name"], []).append((row["stack"] or "").split("\n"))
    return found


def innermost(found, name, count, own=True):
    one = [[frame for frame in stack if not own or "script.py" in frame or "made.py" in frame]
           for stack in found.get(name, [])]
    return one[0][:count] if one else None


def same(what, got, *places):
    got = [os.path.basename(frame) for frame in got or []]
    check(what, got == [f"{path}({line}): {name}" for path, line, name in places], got)


def check_scripts(dwell):
    with open("scripted.py", "w", encoding="utf-8") as file:
        file.write(SCRIPTED)
    done = SERVER.run(dwell, "--stacks", "-o", "s.dwell", script="scripted.py")
    check("TorchScript's layout is found", "dwell: this PyTorch" not in done.stderr, done.stderr)
    found = stacks(dwell, "s.dwell")
    check("what finds it is not recorded", not any("dwell" in name for name in found), found.keys())
    script, python = "scripted.py", [("scripted.py", 16, "call"), ("scripted.py", 25, "<module>")]
    same("a script function called by another", innermost(found, "aten::sin", 4, False), (script, 4, "helper"),
         (script, 7, "outer"), *python)
    same("a script function's loop", innermost(found, "aten::tan", 3, False), (script, 9, "outer"), *python)
    same("a script function itself", innermost(found, "outer", 2, False), *python)
    same("a forked script function", innermost(found, "aten::cosh", 1, False), (script, 20, "in_pool"))
    same("a script that goes on after a wait", innermost(found, "aten::sinh", 1, False), (script, 23, "waits"))
    same("a scripted module", innermost(found, "aten::exp", 1, False), (script, 13, "forward"))
    check("and who called it", "scripted.py(16): call" in [os.path.basename(frame) for frame in found["aten::exp"][0]],
          found["aten::exp"])
    done = SERVER.alone("scripted.py", "theirs.json")
    if done.returncode:
        print(f"skip torch.profiler's frames of scripts: torch.profiler ends with {done.returncode} here")
        return
    with open("theirs.json", encoding="utf-8") as file:
        theirs = {name: stack for name, stack in json.load(file) if name in SCRIPTED_NAMES}
    check("torch.profiler saw them all", sorted(theirs) == sorted(SCRIPTED_NAMES), theirs)
    for name, stack in theirs.items():
        ours = found[name][0][:len(stack)]
        check(f"{name}: torch.profiler's frames, innermost first", stack and ours == stack, (stack, ours))


def main():
    dwell = os.path.abspath(sys.argv[1])
    os.chdir(tempfile.mkdtemp(prefix="dwell-stacks-"))
    with open("script.py", "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    done = SERVER.run(dwell, "--stacks", "-o", "t.dwell", script="script.py")
    check("it runs", done.returncode == 0, done.stderr)
    found = stacks(dwell, "t.dwell")

    script = "script.py"
    old = sys.version_info < (3, 11)
    same("a function of a module", innermost(found, "aten::matmul", 3), (script, 3, "inner"),
         (script, 6, "forward" if old else "Net.forward"), (script, 14, "<module>"))
    same("backward has its call's", innermost(found, "MmBackward0", 2), (script, 14, "<module>"))
    same("a thread has its own", innermost(found, "aten::tan", 2), (script, 10, "of_thread"))
    check("and libraries' frames are there", any("threading.py" in frame for frame in found["aten::tan"][0]))
    same("a generator", innermost(found, "aten::sinh", 2), (script, 12, "generate"), (script, 19, "<module>"))
    same("code without a file", innermost(found, "aten::acos", 2), ("made.py", 1, "<module>"), (script, 20, "<module>"))
    asin = {stack[0] for stack in found["aten::asin"]}
    check("code objects at one address are apart", asin == {"first.py(1): <module>", "second.py(1): <module>"},
          asin)
    deep = found["aten::cos"][0]
    check("of a deep stack the innermost frames", len(deep) >= 100 and all("deep" in frame for frame in deep[:100]),
          len(deep))

    check_scripts(dwell)

    with open("daemon.py", "w", encoding="utf-8") as file:
        file.write(DAEMON)
    for i in range(3):
        trace = f"d{i}.dwell"
        subprocess.run([dwell, "run", "--stacks", "-o", trace, "--", sys.executable, "daemon.py"],
                       capture_output=True, timeout=600, check=False)
        found = stacks(dwell, trace)
        check("a daemon thread at the end", any("work" in stack[0] for stack in found.get("aten::add_", [])),
              found.keys())
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
