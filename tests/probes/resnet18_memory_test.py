#!/usr/bin/env python3
"""The trainer's memory against arithmetic: ResNet-18's bytes by what they are for.

usage: resnet18_memory_test.py RESNET18 DWELL

Trains a few steps under dwell and compares what `dwell report --view memory` says with
sums over the layers, computed here: parameters with the statistics of batch norms, their
gradients, SGD's velocities; all exactly. What has no category is under 5% of the peak.
The last line is "N passed, N failed".
"""
import json
import os
import subprocess
import sys
import tempfile

FLOAT = 4
counts = {True: 0, False: 0}


def check(what, got, expected):
    counts[got == expected] += 1
    if got != expected:
        print(f"failed: {what}: {got}, not {expected}")


def layers():
    """(elements that are trained, elements that are not) of each layer."""
    yield 64 * 1 * 3 * 3, 0                                 # conv1: one channel, no bias
    yield 2 * 64, 2 * 64                                    # bn1: scale, shift; mean, variance
    inward = 64
    for stage in range(4):
        channels = 64 << stage
        for block in range(2):
            yield channels * inward * 3 * 3, 0              # conv1
            yield 2 * channels, 2 * channels                # bn1
            yield channels * channels * 3 * 3, 0            # conv2
            yield 2 * channels, 2 * channels                # bn2
            if stage and not block:
                yield channels * inward, 0                  # downsample.0
                yield 2 * channels, 2 * channels            # downsample.1
            inward = channels
    yield 512 * 10 + 10, 0                                  # fc


def memory_of(dwell, trace):
    text = subprocess.run([dwell, "report", trace, "--view", "memory", "--format", "json"], check=True,
                          capture_output=True, text=True).stdout
    parts = {}
    for view in json.loads(text)["views"]:
        names = [column["name"] for column in view["columns"]]
        parts[view["part"]] = [dict(zip(names, row)) for row in view["rows"]]
    return parts


def steps_of(dwell, trace):
    text = subprocess.run([dwell, "report", trace, "--view", "memory", "--steps", "1..3", "--format", "json"],
                          check=True, capture_output=True, text=True).stdout
    view = [v for v in json.loads(text)["views"] if v["part"] == "timeline"][0]
    names = [column["name"] for column in view["columns"]]
    return [dict(zip(names, row)) for row in view["rows"]]


def main():
    trainer, dwell = sys.argv[1:3]
    trained = sum(layer[0] for layer in layers()) * FLOAT
    fixed = sum(layer[1] for layer in layers()) * FLOAT
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "resnet18.dwell")
        subprocess.run([dwell, "run", "-o", trace, trainer, "--epochs", "1", "--max-steps", "5"],
                       check=True, capture_output=True)
        parts = memory_of(dwell, trace)
        without = os.path.join(folder, "without.dwell")
        subprocess.run([dwell, "run", "--no-memory", "-o", without, trainer, "--epochs", "1",
                        "--max-steps", "1"], check=True, capture_output=True)
        refused = subprocess.run([dwell, "report", without, "--view", "memory"], check=False,
                                 capture_output=True, text=True)
        check("--no-memory leaves allocations out", "has no allocations" in refused.stderr, True)
        timeline = steps_of(dwell, trace)
    kinds = {row["category"]: row for row in parts["categories"]}
    peak = sum(row["peak_bytes"] for row in kinds.values())
    check("bytes of parameters", kinds["parameter"]["allocated_bytes"], trained + fixed)
    check("bytes of parameters at the peak", kinds["parameter"]["peak_bytes"], trained + fixed)
    check("bytes of optimizer state", kinds["optimizer state"]["allocated_bytes"], trained)
    check("bytes of optimizer state at the peak", kinds["optimizer state"]["peak_bytes"], trained)
    # Gradients of activations come and go within a step; those of parameters stay.
    check("least bytes of gradients within steps", min(row["gradient"] for row in timeline), trained)
    check("parameters within steps", {row["parameter"] for row in timeline}, {trained + fixed})
    check("under 5% of the peak has no category",
          kinds.get("other", {"peak_bytes": 0})["peak_bytes"] < 0.05 * peak, True)
    check("holders at the peak add up to it", sum(row["peak_bytes"] for row in parts["peak"]), peak)
    check("what was allocated was freed", sum(row["live_bytes"] for row in kinds.values()), 0)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return counts[False] != 0


if __name__ == "__main__":
    sys.exit(main())
