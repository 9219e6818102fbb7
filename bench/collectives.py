#!/usr/bin/env python3
"""What recording costs a collective of torch.distributed: all_reduce() of one number in a group of one rank.

usage: collectives.py BUILD [STEP-MS [COLLECTIVES [ROUNDS]]], with a Python that has PyTorch

Each round runs the loop once with `dwell run` and once without, in processes of their own; a process reports
the fastest of seven passes. Printed are the medians of the rounds, and their difference as a share of a step of
STEP-MS with COLLECTIVES a step (15.9 and 1: four ranks of examples/pytorch/ddp_ranks.py). The difference is all
that dwell does in the call: the operator, the range of communication and the collective.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

PASSES, CALLS = 7, 5000


def measure():
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=0, world_size=1)
        number, best = torch.ones(1), float("inf")
        for _ in range(PASSES):
            began = time.perf_counter()
            for _ in range(CALLS):
                dist.all_reduce(number)
            best = min(best, time.perf_counter() - began)
        dist.destroy_process_group()
    print(best / CALLS * 1e6)


def run(*before):
    done = subprocess.run([*before, sys.executable, __file__, "measure"], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0])


def main(arguments):
    if arguments == ["measure"]:
        return measure()
    dwell = os.path.join(os.path.abspath(arguments[0]), "dwell")
    step_ms, collectives, rounds = (float(given) for given in (arguments[1:] + [15.9, 1, 5][len(arguments) - 1:]))
    plain, recorded = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(int(rounds)):
            plain.append(run())
            recorded.append(run(dwell, "run", "-o", f"{folder}/{number}.dwell", "--"))
    added = statistics.median(recorded) - statistics.median(plain)
    print(f"all_reduce: {statistics.median(plain):.2f} us, recorded {statistics.median(recorded):.2f} us, "
          f"added {added:.2f} us: {added * collectives / step_ms / 10:.3f}% of a step of {step_ms} ms")


sys.exit(main(sys.argv[1:]))
