#!/usr/bin/python3
"""A program of C++ on LibTorch, unmodified under `dwell run`: what is recorded is what the program counts itself.

usage: torch_native_test.py path/to/dwell [program]

The program (torch_native_program.cpp) is built with the PyTorch of this Python, or with Debian's libtorch-dev.
It counts operators with a callback of its own, and its steps, evaluations and bytes of parameters.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here, or no compiler and headers for it.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import installed

TORCH = installed.need("torch")
HERE = os.path.dirname(os.path.abspath(__file__))


def flags():
    """How to compile with this PyTorch; None: it has no headers."""
    folder = os.path.dirname(installed.place("torch"))
    include, library = os.path.join(folder, "include"), os.path.join(folder, "lib")
    if os.path.exists(os.path.join(include, "torch/csrc/api/include/torch/torch.h")):
        # Old builds have the older strings of C++.
        new = any(b"__cxx11" in open(file, "rb").read(1 << 20) for file in glob.glob(os.path.join(library, "libc10.so")))
        return [f"-D_GLIBCXX_USE_CXX11_ABI={int(new)}", "-I", include, "-I", os.path.join(include, "torch/csrc/api/include"),
                "-L", library, f"-Wl,-rpath,{library}"]
    if os.path.exists("/usr/include/torch/csrc/api/include/torch/torch.h"):
        return ["-I", "/usr/include/torch/csrc/api/include"]
    return None


def main():
    dwell, failures, options = os.path.abspath(sys.argv[1]), 0, flags()
    if not options or not shutil.which("g++"):
        print(f"skip torch_native_test: PyTorch {TORCH} has no headers here (Debian: libtorch-dev), or there is no g++")
        return 77

    def check(name, passed, detail):
        nonlocal failures
        failures += not passed
        print(f"{'ok  ' if passed else 'FAIL'} {name}: {detail}", flush=True)

    def equal(name, mine, theirs):
        check(name, mine == theirs, f"{mine}, the program counted {theirs}" if mine != theirs else str(mine)[:90])

    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "torch_native_program")
        if len(sys.argv) > 2:  # it is built
            program = os.path.abspath(sys.argv[2])
        else:
            subprocess.run(["g++", "-std=c++17", "-w", os.path.join(HERE, "torch_native_program.cpp"), "-o", program, *options,
                            "-ltorch", "-ltorch_cpu", "-lc10", "-pthread"], check=True)

        def run(mode, *more):
            trace = os.path.join(folder, f"{mode}.dwell")
            done = subprocess.run([dwell, "run", "--cost", "full", "--shapes", "-o", trace, program, mode, os.path.join(folder, "file.pt"), *more],
                                  capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
            if done.returncode:
                print(done.stdout, done.stderr)
            check(f"{mode}: the run", done.returncode == 0 and "dwell does not know" not in done.stderr,
                  "\n".join(done.stderr.strip().splitlines()[-8:]))
            return trace, json.loads(done.stdout.strip().splitlines()[-1])

        def events(trace):
            chrome = trace + ".json"
            subprocess.run([dwell, "export", "-f", "chrome", "-o", chrome, trace], check=True)
            with open(chrome, encoding="utf-8") as file:
                return json.load(file)["traceEvents"]

        def rows(trace, view):
            done = subprocess.run([dwell, "report", "--view", view, "--format", "csv", trace], capture_output=True, text=True)
            return done.stdout.splitlines()

        def count(found, category):
            counted = {}
            for event in found:
                if event["ph"] == "X" and event["cat"] == category:
                    counted[event["name"]] = counted.get(event["name"], 0) + 1
            return counted

        def steps(trace):
            return len(rows(trace, "steps")) - 1

        # Loaded by the running program: it is said, not recorded.
        late = os.path.join(folder, "late")
        subprocess.run(["gcc", "-x", "c", "-", "-o", late, "-ldl"], input="#include <dlfcn.h>\n"
                       "int main(int n, char **a) { return !dlopen(a[1], RTLD_NOW); }\n", text=True, check=True)
        library = next(iter(glob.glob(os.path.join(os.path.dirname(installed.place("torch")), "lib/libtorch_cpu.so"))),
                       "libtorch_cpu.so.1.13")
        said = subprocess.run([dwell, "run", "--cost", "full", "-o", os.path.join(folder, "late.dwell"), late, library], capture_output=True, text=True)
        check("loaded late", said.returncode == 0 and "PyTorch is not recorded (libtorch_cpu.so" in said.stderr, said.stderr.strip()[:200])

        # A program that marks its steps itself: only these.
        build, marked = os.path.dirname(dwell), os.path.join(folder, "marked")
        subprocess.run(["gcc", "-x", "c", "-", "-o", marked, "-I", os.path.join(HERE, "../../include"), "-Wl,--no-as-needed",
                        "-L", build, "-ldwell", f"-Wl,-rpath,{build}", *options, "-ltorch_cpu", "-lc10"],
                       input="#include <dwell/probe.h>\nint main(void) { for (int i = 0; i < 5; i++) { DWELL_STEP(); } return 0; }\n",
                       text=True, check=True)
        trace = os.path.join(folder, "marked.dwell")
        subprocess.run([dwell, "run", "--cost", "full", "-o", trace, marked], check=True, capture_output=True)
        equal("a program's own steps", steps(trace), 5)

        trace, truth = run("train")
        found = events(trace)
        equal("each operator", count(found, "cpu_op"), truth["operators"])
        equal("steps", steps(trace), truth["steps"])
        ranges = count(found, "user_annotation")
        layers = ("Net.first", "Net.block.inner", "Net.rest.0", "Net.rest.1")
        calls = truth["steps"] + 3 * truth["evaluations"]
        equal("layers by their path", {name: ranges.get(name) for name in layers}, dict.fromkeys(layers, calls))
        for name, times in (("forward", truth["steps"]), ("backward", truth["steps"]), ("optimizer", 2 * truth["steps"]),
                            ("evaluation", truth["evaluations"]), ("torch::save", 1)):
            equal(name, ranges.get(name), times)
        linked = [event["args"] for event in found if event.get("name") == "AddmmBackward0"]
        check("each backward knows its forward", linked and all("Sequence number" in args and args["Fwd thread id"]
                                                                for args in linked), len(linked))
        shapes = {json.dumps(event["args"].get("Input Dims")) for event in found if event.get("name") == "aten::relu"}
        equal("shapes", shapes, {"[[32, 16]]"})
        held = [row.split(",") for row in rows(trace, "memory") if row.startswith("parameter,")]
        check("bytes of parameters", held and str(truth["parameters"]) in held[0], f"{truth['parameters']} in {held}")
        trace, truth = run("zones")
        found = [event for event in events(trace) if event["ph"] == "X"]
        equal("zones: operators", count(found, "cpu_op"), truth["operators"])
        for zone, name, times in (("scores", "aten::addmm", 3), ("scores", "aten::log_softmax", 0), ("the rest", "AddmmBackward0", 3)):
            inside = [sum(event["name"] == name and around["ts"] <= event["ts"] and event["ts"] + event["dur"]
                          <= around["ts"] + around["dur"] for event in found) for around in found if around["name"] == zone]
            equal(f"zones: {name} in {zone}", inside, [times] * truth["steps"])
        for mode in ("closure", "manual", "script", "threads", "throws", "fork"):
            trace, truth = run(mode)
            equal(f"{mode}: operators", count(events(trace), "cpu_op"), truth["operators"])
            equal(f"{mode}: steps", steps(trace), truth["steps"])
    print(f"PyTorch {TORCH}: {'all passed' if not failures else f'{failures} failed'}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
