#!/usr/bin/python3
"""What dwell asks PyTorch's objects: each answer that fails is left out alone, and dwell says which.

usage: torch_abi_test.py path/to/dwell

Runs one script with the probe that is built for tests, in which DWELL_TEST_BREAK makes one answer
wrong, and with the probe that reads nothing of PyTorch's memory (-Dtorch_abi=disabled). What the
trace has must be what it has without a fault, except for what that answer gives.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import forked
import installed

TORCH = installed.need("torch")

SERVER = forked.Server(shared=True)

SCRIPT = """
import torch
@torch.jit.script
def scripted(x): return torch.neg(x) + 1
net = torch.nn.Linear(5, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=.1)
for i in range(3):
    optimizer.zero_grad()
    net(scripted(torch.ones(3, 5))).sin().sum().backward()
    optimizer.step()
with torch.autograd.profiler.record_function("own zone"): torch.zeros(4)
torch.nn.functional.avg_pool1d(torch.ones(1, 1, 8), 2)
torch.mm(torch.empty(3, 5, device="meta"), torch.empty(5, 2, device="meta"))
"""
SCRIPTED = SCRIPT[:SCRIPT.index("def scripted")].count("\n") + 1  # its line
# What the trace of the script must have.
PARTS = ("operators", "zones", "layers", "steps", "sequences", "forward threads", "shapes", "integers", "elements", "script frames",
         "memory")

# Name of the broken answer: what the trace lacks, whether a line says so, and what dwell info must name.
ANSWERS = {
    "none": ((), False, ""),
    "operators": (("operators", "zones", "sequences", "forward threads", "shapes", "integers", "elements", "script frames"), True,
                  "operators are not recorded"),
    "names": ((), False, "recording an operator takes longer"),
    "sequences": (("sequences", "forward threads"), True, "operators have no links to their backward"),
    "threads": (("forward threads",), True, "links to a backward do not name the thread"),
    "shapes": (("shapes", "integers", "elements"), True, "shapes are not recorded"),
    "integers": (("integers",), True, "fewer FLOPs are counted, because strides and flags are not recorded"),
    "elements": (("elements",), True, "FLOPs are counted of tensors without memory, too"),
    "script": (("script frames",), True, "stacks have no frames of TorchScript"),
    "states": ((), False, "recording a backward takes longer"),
    "allocator": (("memory",), True, "allocations on the CPU are not recorded"),
    "reducer": ((), True, "waits of DistributedDataParallel are not recorded"),
}
WITHOUT = ("sequences", "forward threads", "shapes", "integers", "elements", "script frames")


def make_copy(build, folder, probe):
    """dwell with another probe beside it."""
    os.makedirs(os.path.join(folder, "probes"))
    for name in glob.glob(os.path.join(build, "libdwell*.so*")) + [os.path.join(build, "dwell")]:
        if os.path.isfile(name):
            shutil.copy(name, folder)
    shutil.copy(os.path.join(build, "probes/libdwell-attach.so"), os.path.join(folder, "probes"))
    shutil.copy(os.path.join(build, "probes", probe), os.path.join(folder, "probes/libdwell-python.so"))
    return os.path.join(folder, "dwell")


def find_parts(dwell, folder, trace, path):
    chrome = os.path.join(folder, "t.json")
    subprocess.run([dwell, "export", "--format", "chrome", "-o", chrome, trace], check=True)
    with open(chrome, encoding="utf-8") as file:
        events = json.load(file)
    events = events["traceEvents"] if isinstance(events, dict) else events
    pools = [event for event in events if event.get("name") == "aten::avg_pool1d"]
    products = [event for event in events if event.get("name") == "aten::mm" and event["args"].get("Input Dims") == [[3, 5], [5, 2]]]
    sines = [event for event in events if event.get("name") == "aten::sin"]
    backwards = [event for event in events if event.get("name") == "SinBackward0"]
    steps = subprocess.run([dwell, "report", "--view", "steps", "--format", "json", trace], capture_output=True,
                           text=True, check=True).stdout
    memory = subprocess.run([dwell, "report", "--view", "memory", "--format", "json", trace], capture_output=True,
                            text=True, check=False)
    return {part for part, there in {
        "operators": len(sines) == 3,
        "zones": any(event.get("name") == "own zone" for event in events),
        "layers": sum(event.get("name") == "Linear" and "layer" in str(event) for event in events) == 3,
        "steps": len(json.loads(steps)["views"][0]["rows"]) >= 3,
        "sequences": bool(sines) and all("Sequence number" in event["args"] for event in sines),
        "forward threads": bool(backwards) and all(event["args"].get("Fwd thread id") for event in backwards),
        "shapes": bool(sines) and all(event["args"].get("Input Dims") == [[3, 2]] for event in sines),
        "integers": [event["args"].get("Concrete Inputs", [""])[1:] for event in pools] == [["[2]", "[]", "[0]", "False", "True"]],
        "elements": bool(products) and all(event["args"]["Input type"] == ["", ""] for event in products),
        "script frames": any(f"{path}({SCRIPTED}): scripted" in event["args"].get("Call stack", "") for event in events
                             if event.get("name") == "aten::neg"),
        "memory": memory.returncode == 0 and len(json.loads(memory.stdout)["views"][0]["rows"]) > 0,
    }.items() if there}


def record(dwell, folder, broken):
    """The run's lines about PyTorch, what the trace has, and what dwell info says that it lacks."""
    trace, path = os.path.join(folder, "t.dwell"), os.path.join(folder, "train.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    done = SERVER.run(dwell, "--shapes", "--stacks", "-o", trace, script=path, env=dict(os.environ, DWELL_TEST_BREAK=broken))
    if done.returncode:
        return [f"exit status {done.returncode}: {done.stderr[-800:]}"], set(), ""
    info = subprocess.run([dwell, "info", trace], capture_output=True, text=True, check=True).stdout
    lacks = [line.split(" = ", 1)[1] for line in info.splitlines() if line.strip().startswith(("torch.lacks = ", "torch.slower = "))]
    lines = [line for line in done.stderr.splitlines() if "PyTorch" in line]
    return lines, find_parts(dwell, folder, trace, path), lacks[-1] if lacks else ""


# Stands before the function of autograd's engine that starts a thread for each device, after which forked processes cannot compute
# gradients. It is called once, by the first backward.
ENGINE = """
#include <stdio.h>
void starts(void *engine) __asm__("_ZN5torch8autograd6Engine20start_device_threadsEv");
void starts(void *engine) { puts("started"); fflush(stdout); }
"""


def start_engine(dwell, folder):
    """What is wrong with when the engine starts: what the probe asks PyTorch must not start it."""
    library, script = os.path.join(folder, "libengine.so"), os.path.join(folder, "engine.py")
    subprocess.run([*os.environ.get("CC", "cc").split(), "-shared", "-fPIC", "-xc", "-", "-o", library], input=ENGINE, text=True, check=True)
    with open(script, "w", encoding="utf-8") as file:
        file.write("import torch\nprint('imported', flush=True)\ntorch.ones(2, requires_grad=True).sum().backward()\n")
    done = subprocess.run([dwell, "run", "-o", os.path.join(folder, "engine.dwell"), "--", sys.executable, script], capture_output=True,
                          text=True, check=False, env=dict(os.environ, LD_PRELOAD=library, PYTHONUNBUFFERED="1"))
    said = done.stdout.split()
    return [] if said == ["imported", "started"] and not done.returncode else [f"{said}, {done.stderr[-800:]}"]


def main():
    build, failures = os.path.dirname(os.path.abspath(sys.argv[1])), 0

    def check(name, wrong):
        nonlocal failures
        failures += bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {name}{': ' if wrong else ''}{'; '.join(wrong)}")

    if not os.path.exists(os.path.join(build, "probes/libdwell-python-broken.so")):
        print("skip torch_abi_test: this build has torch_abi=disabled")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check("autograd's engine starts with the program's first backward", start_engine(os.path.abspath(sys.argv[1]), folder))
        dwell = make_copy(build, os.path.join(folder, "broken"), "libdwell-python-broken.so")
        lines, there, lacks = record(dwell, folder, "none")
        absent = set(PARTS) - there  # this PyTorch may have no answer of its own
        costs = "takes longer" in lacks
        check("nothing is broken", [f"lacks {part}" for part in absent] + lines +
              [lacks] * (lacks != "" and not costs))
        for broken, (missing, said, text) in ANSWERS.items():
            if broken == "none":
                continue
            lines, found, lacks = record(dwell, folder, broken)
            wrong = [f"lacks {part}" for part in sorted(there - found - set(missing))]
            wrong += [f"has {part}" for part in sorted(found & set(missing))]
            if text not in lacks:
                wrong.append(f"dwell info says {lacks!r}")
            if said != any(f"PyTorch {TORCH.split('+')[0]}" in line and text in line for line in lines) or len(lines) > said:
                wrong.append(f"dwell run says {lines}")
            check(f"a wrong answer: {broken}", wrong)
        dwell = make_copy(build, os.path.join(folder, "without"), "libdwell-python-without.so")
        lines, found, lacks = record(dwell, folder, "none")
        wrong = [f"lacks {part}" for part in sorted(there - found - set(WITHOUT))]
        wrong += [f"has {part}" for part in sorted(found & set(WITHOUT))]
        if "torch_abi=disabled" not in lacks or len(lines) != 1 or "torch_abi=disabled" not in lines[0]:
            wrong.append(f"says {lines}, {lacks!r}")
        check("built with torch_abi=disabled", wrong)
    print(f"PyTorch {TORCH}: {'failed' if failures else 'all passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) == 2 else __doc__)
