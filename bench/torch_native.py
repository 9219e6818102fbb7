#!/usr/bin/python3
"""What recording an operator of PyTorch costs in C++, beside Python: the same loop in both, with all operators recorded.

usage: torch_native.py BUILD [rounds]

Each round runs each of four programs once: C++ and Python, alone and under dwell. A program prints the fastest of its
passes over a loop, by the CPU time of its thread. What recording adds is the median of the rounds' differences.
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
static double now() { timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
int main() {
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
import time, torch
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
                        "-I", f"{folder}/include/torch/csrc/api/include", "-L", f"{folder}/lib", f"-Wl,-rpath,{folder}/lib",
                        "-ltorch", "-ltorch_cpu", "-lc10"], input=texts[0], text=True, check=True)
        recorded = [dwell, "run", "--cost", "full", "--no-memory", "--sample", "off", "-o", f"{here}/t.dwell", "--"]
        programs = {"C++": [f"{here}/loop"], "Python": [sys.executable, "-c", texts[1]]}
        taken = {}
        for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 5):
            for name, command in programs.items():
                for way, before in (("alone", []), ("recorded", recorded)):
                    said = subprocess.run([*before, *command], capture_output=True, text=True, check=True).stdout
                    taken.setdefault((name, way), []).append(float(said.split()[0]))
    added = {}
    for name in programs:
        added[name] = statistics.median(after - before for before, after in zip(taken[name, "alone"], taken[name, "recorded"]))
        print(f"{name:<8} an operator takes {statistics.median(taken[name, 'alone']):6.0f} ns alone, "
              f"recording adds {added[name]:.1f} ns")
    print(f"in C++ {added['C++'] / added['Python']:.2f} of what it adds in Python")
    return 0


if __name__ == "__main__":
    sys.exit(main())
