#!/usr/bin/python3
"""What recording an operator of PyTorch costs in C++, beside Python: the same loop in both, with all operators recorded.

usage: torch_native.py BUILD [rounds]

Each round runs each program once, in C++ and in Python: alone, with an empty callback of PyTorch, and under dwell. A program
prints the fastest of its passes over a loop, by the CPU time of its thread. What is added is the median of the rounds' differences.
Exit status 0; 77: no PyTorch with headers here.
"""
import os
import statistics
import subprocess
import sys
import tempfile

PASSES, CALLS = 40, 2000
CPP = """
#include <torch/torch.h>
#include <cstdio>
#include <ctime>
#include <dlfcn.h>
static double now() { timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
int main(int argc, char **argv) {
    if (argc > 1 && ((int (*)(const char *, int))dlsym(dlopen(argv[1], RTLD_NOW), "empty_on"))(argv[2], 0)) return 1;
    torch::NoGradGuard guard;
    auto x = torch::ones(1);
    double best = 1e18;
    for (int pass = 0; pass < PASSES; pass++) {
        double start = now();
        for (int i = 0; i < CALLS; i++) x.neg();
        best = std::min(best, now() - start);
    }
    std::printf("%f\\n", best / CALLS);
}
"""
PYTHON = """
import ctypes, sys, time, torch
if sys.argv[1:] and ctypes.CDLL(sys.argv[1]).empty_on(sys.argv[2].encode(), 0): sys.exit(1)
torch.set_grad_enabled(False)
x, best = torch.ones(1), 1e18
for _ in range(PASSES):
    start = time.thread_time_ns()
    for _ in range(CALLS): x.neg()
    best = min(best, time.thread_time_ns() - start)
print(best / CALLS)
"""


def main():
    try:
        import torch
    except ImportError:
        return 77
    folder, dwell = os.path.dirname(torch.__file__), os.path.join(os.path.abspath(sys.argv[1]), "dwell")
    if not os.path.exists(f"{folder}/include/torch/csrc/api/include/torch/torch.h"):
        return 77
    with tempfile.TemporaryDirectory() as here:
        texts = [text.replace("PASSES", str(PASSES)).replace("CALLS", str(CALLS)) for text in (CPP, PYTHON)]
        subprocess.run(["g++", "-O2", "-std=c++17", "-w", "-x", "c++", "-", "-o", f"{here}/loop", "-I", f"{folder}/include",
                        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
                        "-I", f"{folder}/include/torch/csrc/api/include", "-L", f"{folder}/lib", "-Xlinker", f"-rpath={folder}/lib",
                        "-ltorch", "-ltorch_cpu", "-lc10", "-ldl"], input=texts[0], text=True, check=True)
        recorded = [dwell, "run", "--cost", "full", "--no-memory", "--sample", "off", "-o", f"{here}/t.dwell", "--"]
        empty = [os.path.join(os.path.abspath(sys.argv[1]), "bench", "libtorch_empty.so"), f"{folder}/lib/libtorch_cpu.so"]
        programs = {"C++": [f"{here}/loop"], "Python": [sys.executable, "-c", texts[1]]}
        taken = {}
        for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 5):
            for name, command in programs.items():
                for way, before, after in (("alone", [], []), ("empty", [], empty), ("recorded", recorded, [])):
                    said = subprocess.run([*before, *command, *after], capture_output=True, text=True, check=True).stdout
                    taken.setdefault((name, way), []).append(float(said.split()[0]))
    added = {key: statistics.median(after - before for before, after in zip(taken[key[0], "alone"], times))
             for key, times in taken.items()}
    own = {name: added[name, "recorded"] - added[name, "empty"] for name in programs}
    for name in programs:
        print(f"{name:<8} an operator takes {statistics.median(taken[name, 'alone']):6.0f} ns alone, an empty callback adds "
              f"{added[name, 'empty']:.1f} ns, recording adds {added[name, 'recorded']:.1f} ns, beyond the empty one {own[name]:.1f} ns")
    print(f"in C++ {own['C++'] / own['Python']:.2f} of dwell's own part in Python")
    return 0


if __name__ == "__main__":
    sys.exit(main())
