#!/usr/bin/python3
"""What recording costs a loop of small operators, beside torch.profiler, in one run.

usage: torch_cost.py BUILD [rounds]

Each round runs every way of recording once, in a process of its own on one core, one
after the other; a process reports the fastest of seven passes over each loop; medians of
the rounds are printed. dwell's file is bounded and full by then: the memory that it lies
in is used again, as torch.profiler's is from its second pass on. What a machine takes to
hand out new memory is its own. `added` is beyond the plain loop, `beyond` is beyond an empty
callback with the same needs, and the last column is that in parts of what torch.profiler
adds. Its exit and its tables are not in it.

Exit status 0; 77: no PyTorch here.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

PASSES, LOOPS = 7, 10000
BOUND, FILLING = "8M", 20  # a pass writes 12 bytes for each of five operators, with memory more

# name, torch.profiler's or dwell's options, the empty callback it is measured from
WAYS = (
    ("plain", None, None),
    ("empty callback", None, None),
    ("empty callback, inputs", None, None),
    ("torch.profiler", {}, "empty callback"),
    ("torch.profiler, shapes", {"record_shapes": True}, "empty callback, inputs"),
    ("torch.profiler, memory", {"profile_memory": True}, "empty callback"),
    ("dwell, operators", ["--no-memory"], "empty callback"),
    ("dwell, shapes", ["--no-memory", "--shapes"], "empty callback, inputs"),
    ("dwell, memory", [], "empty callback"),
)
PEERS = {"dwell, operators": "torch.profiler", "dwell, shapes": "torch.profiler, shapes",
         "dwell, memory": "torch.profiler, memory"}


def measure(way, build):
    import ctypes
    import torch
    torch.set_num_threads(1)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    x, one = torch.ones(1), torch.ones(1)

    def add_number():
        for _ in range(LOOPS):
            x.add_(1)

    def add_tensor():
        for _ in range(LOOPS):
            x.add_(one)

    def fastest(loop):
        best = float("inf")
        for _ in range(FILLING if way.startswith("dwell") else 0):
            loop()
        for _ in range(PASSES):
            if way.startswith("torch.profiler"):
                profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                                  **dict((w[0], w[1]) for w in WAYS)[way])
                profiler.start()
            start = time.perf_counter()
            loop()
            best = min(best, time.perf_counter() - start)
            if way.startswith("torch.profiler"):
                profiler.stop()
        return best / LOOPS * 1e9

    if way.startswith("empty"):
        with open("/proc/self/maps", encoding="utf-8") as maps:
            library = next(line.split()[-1] for line in maps if "libtorch_cpu.so" in line)
        empty = ctypes.CDLL(os.path.join(build, "bench", "libtorch_empty.so"))
        if empty.empty_on(library.encode(), int("inputs" in way)):
            sys.exit("no RecordFunction in " + library)
    print("RESULT", fastest(add_number), fastest(add_tensor))


def main():
    try:
        import torch
    except ImportError as error:
        print(f"skip torch_cost: {error}")
        return 77
    build, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    found = {name: ([], []) for name, _, _ in WAYS}
    for _ in range(rounds):
        for name, options, _ in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, __file__, "--measure", name, build]
                if name.startswith("dwell"):
                    command = [os.path.join(build, "dwell"), "run", "-o", os.path.join(folder, "t.dwell"),
                               "--max-size", BOUND, "--keep", "newest", *options, *command]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
            for values, value in zip(found[name], line.split()[1:]):
                values.append(float(value))
    times = {name: [statistics.median(values) for values in both] for name, both in found.items()}
    for peer in set(PEERS.values()):
        if any(with_it <= without for with_it, without in zip(times[peer], times["plain"])):
            print(f"{peer} seems to cost nothing: other programs disturbed the measurement; repeat it on a quiet machine", file=sys.stderr)
            return 1
    print(f"PyTorch {torch.__version__}, ns an iteration, medians of {rounds}")
    for i, loop in enumerate(("x.add_(1)", "x.add_(tensor)")):
        print(f"\n{loop:26} {'time':>8} {'added':>8} {'beyond':>8} {'of torch':>9}")
        for name, _, floor in WAYS:
            time_ns = times[name][i]
            line = f"{name:26} {time_ns:8.0f} {time_ns - times['plain'][i]:8.0f}"
            if floor:
                line += f" {time_ns - times[floor][i]:8.0f}"
            if name in PEERS:
                peer = PEERS[name]
                line += f" {(time_ns - times[floor][i]) / (times[peer][i] - times['plain'][i]):9.1%}"
            print(line)
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--measure":
        measure(sys.argv[2], sys.argv[3])
    elif len(sys.argv) in (2, 3):
        sys.exit(main())
    else:
        sys.exit(__doc__)
