#!/usr/bin/python3
"""A million operators: recorded, ended and tabled, beside torch.profiler in the same run.

usage: torch_million.py BUILD [operators]

Three processes one after the other: torch.profiler with shapes (its stop() and the table
of key_averages()), dwell.profile with shapes (the same calls), and `dwell run --shapes`
(the report's command). Memory is what anonymous memory (RssAnon) grew by from before the
profile was made to its highest. Exit status 0; 77: no PyTorch here.
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time


def anonymous():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) * 1024


def highest(stop, peak):
    while not stop.wait(0.005):
        peak[0] = max(peak[0], anonymous())


def measure(way, count):
    import torch
    torch.set_num_threads(1)
    x, one = torch.ones(1), torch.ones(1)

    def work():
        for _ in range(count):
            x.add_(one)

    work_before = time.perf_counter()
    x.add_(one)
    before, peak, stop = anonymous(), [0], threading.Event()
    if way == "run":
        work()
        print("RESULT", json.dumps({"record": time.perf_counter() - work_before}))
        return
    if way == "torch":
        from torch.profiler import ProfilerActivity, profile
        profiler = profile(activities=[ProfilerActivity.CPU], record_shapes=True)
    else:
        from dwell import profile
        profiler = profile(record_shapes=True)
    watch = threading.Thread(target=highest, args=(stop, peak))
    watch.start()
    start = time.perf_counter()
    profiler.start()
    work()
    recorded = time.perf_counter()
    profiler.stop()
    table = profiler.key_averages().table(sort_by="self_cpu_time_total")
    done = time.perf_counter()
    stop.set()
    watch.join()
    # torch.profiler 1.13 takes calls within one microsecond for nested ones, and drops some.
    assert "aten::add_" in table and (way == "torch" or str(count) in table), table
    print("RESULT", json.dumps({"record": recorded - start, "table": done - recorded,
                                "memory": max(peak[0], anonymous()) - before}))


def run(command, env):
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
    return json.loads(line[7:])


def main():
    try:
        import torch
    except ImportError as error:
        print(f"skip torch_million: {error}")
        return 77
    build = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
    package = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python")
    env = dict(os.environ, LD_LIBRARY_PATH=build, PYTHONPATH=package)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        me = [sys.executable, os.path.abspath(__file__), "--measure"]
        theirs = run([*me, "torch", str(count)], env)
        ours = run([*me, "dwell", str(count)], env)
        command = [os.path.join(build, "dwell"), "run", "--shapes", "--no-memory", "-o", "t.dwell", "--"]
        run([*command, *me, "run", str(count)], env)
        start = time.perf_counter()
        subprocess.run([os.path.join(build, "dwell"), "report", "t.dwell", "--view", "operators"],
                       stdout=subprocess.DEVNULL, check=True)
        report = time.perf_counter() - start
        size = os.path.getsize("t.dwell")
    print(f"PyTorch {torch.__version__}, {count:,} operators with shapes")
    print(f"{'':32} {'recording':>10} {'stop+table':>11} {'memory':>9}")
    for name, row in (("torch.profiler", theirs), ("dwell.profile", ours)):
        print(f"{name:32} {row['record']:9.2f}s {row['table']:10.3f}s {row['memory'] / 1e6:6.0f} MB")
    print(f"dwell.profile's stop and table: 1/{theirs['table'] / ours['table']:.0f} of torch.profiler's "
          "(asked: 1/50)")
    print(f"dwell report after dwell run: {report:.3f} s; {size / count:.1f} bytes an operator (asked: 24)")
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--measure":
        measure(sys.argv[2], int(sys.argv[3]))
    elif len(sys.argv) in (2, 3):
        sys.exit(main())
    else:
        sys.exit(__doc__)
