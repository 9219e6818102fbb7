#!/usr/bin/env python3
"""The C trainer's ranks, its graph and its time profiling.

usage: resnet18_ranks_test.py RESNET18 DWELL arithmetic | trace

arithmetic: one process and two or five ranks train with the same whole batch. With batch normalization
by the statistics of the whole batch (--sync-norm), and in fine-tuning by the running ones
(--frozen-norm), losses and the first step's gradients agree to float32: the order of
summation is all that differs. (By the statistics of each rank's own part it would be
another network.) The kernel's own batch normalization, in one process, gives the same
losses; its gradients are farther away, because its statistics are rounded otherwise and a
ReLU may open in one and not in the other. With --graph they are the same bytes.

trace: under `dwell run` two ranks are two ranks of one
trace, whose communication is seen. A rank that is killed ends the others. At each
verbosity the listing has the lines that SINGA's would have, and the trace that the
program left gives the same.

The last line is "N passed, N failed".
"""
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

RESNET18, DWELL = (os.path.abspath(path) for path in sys.argv[1:3])
STEPS = 3
BATCH = "20"  # which 2 and 5 ranks divide: images are what takes time
LOSS_TOLERANCE = 1e-5      # relative
GRADIENT_TOLERANCE = 1e-4  # |difference| / |gradient|, 2-norms
LATER_TOLERANCE = 1e-3     # of a network by batch statistics, after some steps
KERNEL_GRADIENT_TOLERANCE = 3e-2

counts = {True: 0, False: 0}


def check(what, passed, detail=""):
    counts[bool(passed)] += 1
    if not passed:
        print(f"FAIL {what}: {detail}")


def train(*options, check_status=True, folder=None):
    return subprocess.run([RESNET18, "--threads", "1", "--batch", BATCH, *options], check=check_status, timeout=600, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def tensors(path):
    """The losses and the gradients, by name."""
    with open(path, "rb") as file:
        data = file.read()
    found, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        name = data[at + 4:at + 4 + length].decode()
        (dimensions,) = struct.unpack_from("<I", data, at + 4 + length)
        shape = struct.unpack_from(f"<{dimensions}Q", data, at + 8 + length)
        count = 1
        for size in shape:
            count *= size
        at += 8 + length + 8 * dimensions
        if name == "losses" or name.startswith("grad."):
            found[name] = struct.unpack_from(f"<{count}f", data, at)
        at += 4 * count
    return found


def distance(got, want):
    norm = sum(value * value for value in want) ** 0.5
    return sum((a - b) ** 2 for a, b in zip(got, want)) ** 0.5 / max(norm, 1e-30)


def compare(what, several, one, later=LOSS_TOLERANCE):
    """`later`: of the losses after the first two, where rounding has had time to grow."""
    for step, (got, want) in enumerate(zip(several["losses"], one["losses"])):
        tolerance = LOSS_TOLERANCE if step < 2 else later
        check(f"{what}: loss of step {step}", abs(got - want) <= tolerance * abs(want), f"{got}, not {want}")
    check(f"{what}: as many losses", len(several["losses"]) == STEPS)
    worst = max((distance(values, one[name]), name) for name, values in several.items()
                if name.startswith("grad."))
    check(f"{what}: gradients of step 0", worst[0] <= GRADIENT_TOLERANCE, worst)


def whole_batch_norm(folder):
    own = ["--max-steps", str(STEPS), "--lr", "0.0005"]
    train(*own, "--sync-norm", "--dump", f"{folder}/sync")
    one = tensors(f"{folder}/sync")
    train(*own, "--sync-norm", "--dump", f"{folder}/ranks", "--ranks", "5")
    compare("5 ranks, --sync-norm", tensors(f"{folder}/ranks"), one, later=LATER_TOLERANCE)
    train(*own, "--dump", f"{folder}/kernel")
    kernel = tensors(f"{folder}/kernel")
    for step, tolerance in ((0, LOSS_TOLERANCE), (STEPS - 1, LATER_TOLERANCE)):
        got, want = one["losses"][step], kernel["losses"][step]
        check(f"the kernel's own: loss of step {step}", abs(got - want) <= tolerance * abs(want), f"{got}, not {want}")
    worst = max((distance(values, kernel[name]), name) for name, values in one.items() if name.startswith("grad."))
    check("the kernel's own: gradients of step 0", worst[0] <= KERNEL_GRADIENT_TOLERANCE, worst)
    train(*own, "--max-steps", "1", "--ranks", "2", "--dump", f"{folder}/parts")
    parts = tensors(f"{folder}/parts")["losses"][0]
    check("statistics of parts are another network", abs(parts - kernel["losses"][0]) > 1e-4, parts)


def same_training(folder):
    fine = ["--load-weights", f"{folder}/weights", "--frozen-norm", "--max-steps", str(STEPS), "--lr", "0.002"]
    train("--max-steps", "8", "--save-weights", f"{folder}/weights")
    train(*fine, "--dump", f"{folder}/one")
    train(*fine, "--dump", f"{folder}/graph", "--graph")
    one = tensors(f"{folder}/one")
    check("one process takes all steps", len(one["losses"]) == STEPS, one["losses"])
    with open(f"{folder}/one", "rb") as a, open(f"{folder}/graph", "rb") as b:
        check("--graph: the same bytes", a.read() == b.read())
    for ranks, more in ((5, ()), (2, ("--graph",))):
        train(*fine, "--dump", f"{folder}/ranks", "--ranks", str(ranks), *more)
        compare(" ".join([f"{ranks} ranks, --frozen-norm", *more]), tensors(f"{folder}/ranks"), one)


def view(trace, *options):
    text = subprocess.run([DWELL, "report", trace, *options, "--format", "json"], check=True,
                          capture_output=True, text=True).stdout
    answer = json.loads(text)["views"][0]
    names = [column["name"] for column in answer["columns"]]
    return [dict(zip(names, row)) for row in answer["rows"]]


def one_trace(folder):
    trace = f"{folder}/ranks.dwell"
    subprocess.run([DWELL, "run", "-o", trace, RESNET18, "--threads", "1", "--batch", BATCH, "--ranks", "2", "--max-steps", "4"],
                   check=True, capture_output=True, timeout=600)
    info = subprocess.run([DWELL, "info", trace], check=True, capture_output=True, text=True).stdout
    for rank in (0, 1):
        check(f"the trace has rank {rank}", f", rank {rank} of 2: " in info, info)
    phases = {row["phase"]: row for row in view(trace, "--view", "phases") if row["phase"]}
    check("communication is a part of the steps", "communication" in phases, phases)


def operations(listing):
    """Names by OP_ID, where every line of the listing is an operation's."""
    rows = [re.fullmatch(r"OP_ID(\d+)\. (.+) : [0-9.e-]+ sec", line) for line in listing.splitlines()[2:]]
    return {int(row.group(1)): row.group(2) for row in rows} if all(rows) else {}


DIST = ["Dist_c1_fusedSynch_filling", "Dist_s_fusedSynch_allreduce", "Dist_c1_fusedSynch_copyBackToTensor"]


def listings(folder):
    run = ["--graph", "--max-steps", "5", "--skip-iteration", "2", "--batch", "8"]
    for verbosity in (0, 1, 2, 3):
        home = os.path.join(folder, f"verbosity{verbosity}")
        os.mkdir(home)
        text = train(*run, "--ranks", "2", "--verbosity", str(verbosity), folder=home).stdout
        listing = text[text.find("\nTime Profiling:\n"):] if "Time Profiling" in text else ""
        names = operations(listing)
        what, traces = f"verbosity {verbosity}", os.listdir(home)
        if verbosity == 0:
            check("verbosity 0: no listing, no trace", not listing and not traces, text)
            continue
        check(f"{what}: one trace of all ranks", len(traces) == 1, traces)
        if verbosity == 1:
            check("verbosity 1: two lines", re.fullmatch(
                r"\nTime Profiling:\nForward Propagation Time : [0-9.e-]+ sec\n"
                r"Backward Propagation Time : [0-9.e-]+ sec\n", listing), text)
        elif verbosity == 2:
            order = list(names.values())
            check("verbosity 2: forward, backward, distributed, optimizer",
                  order.count("convolution") == 20 and order.count("sgd") == 62 and
                  order.index("convolution") < order.index("cross_entropy_backward") < order.index(DIST[0])
                  and order[-65:-62] == DIST, order)
        else:
            check("verbosity 3: the distributed alone", list(names.values()) == DIST, text)
        trace = os.path.join(home, traces[0])
        info = subprocess.run([DWELL, "info", trace], check=True, capture_output=True, text=True).stdout
        check(f"{what}: both ranks", all(f", rank {rank} of 2: " in info for rank in (0, 1)), info)
        again = subprocess.run([DWELL, "report", trace, "--layout", "singa"], capture_output=True, text=True)
        check(f"{what}: dwell report has the same operations",
              again.returncode == 0 and operations(again.stdout) == names, again.stdout + again.stderr)
    refused = train(*run, "--verbosity", "1", "--skip-iteration", "5", check_status=False, folder=folder)
    check("as many skipped as there are", refused.returncode == 1 and
          "the first 5 iterations are skipped" in refused.stdout, refused.stdout)
    refused = train("--verbosity", "4", check_status=False)
    check("verbosity 4", refused.returncode == 2 and "from 0 to 3" in refused.stdout, refused.stdout)


def a_rank_dies():
    with subprocess.Popen([RESNET18, "--threads", "1", "--ranks", "2", "--epochs", "1000"], text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as parent:
        deadline, child = time.monotonic() + 60, ""
        while not child and time.monotonic() < deadline:
            with open(f"/proc/{parent.pid}/task/{parent.pid}/children", encoding="ascii") as file:
                child = file.read().strip()
        os.kill(int(child), signal.SIGKILL)
        try:
            _, message = parent.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            parent.kill()
            _, message = parent.communicate()
        check("a killed rank ends the run", parent.returncode == 1 and "rank 1 ended before" in message,
              f"{parent.returncode} {message}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[3] == "arithmetic":
            same_training(folder)
            whole_batch_norm(folder)
        else:
            one_trace(folder)
            listings(folder)
            a_rank_dies()
            refused = train("--ranks", "3", "--batch", "50", check_status=False)
            check("ranks that do not divide the batch", refused.returncode == 2 and "does not divide" in refused.stdout,
                  refused.stdout)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
