#!/usr/bin/python3
"""dwell.profile and torch.profiler on the same calls, in one process: the same operators.

usage: torch_same_test.py, with dwell on PYTHONPATH and its libraries on LD_LIBRARY_PATH

For where programs cannot be started (tools/release/check_torch_aarch64). Exit status 0: all
checks pass; 1: one failed; 77: no PyTorch here.
"""
import sys
import time
from collections import Counter

try:
    import torch
    import torch.profiler as original
except ImportError as error:
    print(f"skip torch_same_test: {error}")
    sys.exit(77)
import again  # noqa: E402
import dwell  # noqa: E402

counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


NET = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 3))
BATCH = torch.ones(2, 1, 8, 8)


def work(module):
    with module.profile(record_shapes=True, profile_memory=True) as prof:
        with original.record_function("sleep"):
            time.sleep(0.05)
        loss = torch.nn.functional.cross_entropy(NET(BATCH), torch.tensor([0, 1]))
        loss.backward()
    return prof


@torch.jit.script
def scale(x):
    return x.sin() * 2


def check_script():
    with dwell.profile(with_stack=True) as prof:
        scale(torch.ones(2))
    stack = next((event.stack for event in prof.events() if event.name == "aten::sin"), [])
    line = check_script.__code__.co_firstlineno - 3
    check("a script function's frame, then Python's", [frame.rsplit("/", 1)[-1] for frame in stack[:2]] ==
          [f"torch_same_test.py({line}): scale", f"torch_same_test.py({line + 5}): check_script"], stack)


def shapes(events):
    return Counter((event.name, str(event.input_shapes)) for event in events if event.name.startswith("aten::"))


def backwards(events):
    """Each backward operator's forward operator."""
    owners = {event.sequence_nr: event.name for event in events
              if event.sequence_nr >= 0 and event.name.startswith("aten::")}
    return sorted((event.name, owners.get(event.sequence_nr)) for event in events
                  if event.name.endswith("Backward0") and "evaluate_function" not in event.name)


def is_undisturbed(events):
    """Whether there is one sleep, of a little more than 50 ms."""
    sleeps = [event.cpu_time_total for event in events if event.name == "sleep"]
    return len(sleeps) == 1 and 49e3 < sleeps[0] < 100e3


def main():
    work(original)
    theirs = work(original).events()
    ours = again.until(is_undisturbed, lambda: work(dwell).events())
    check("operators, calls and shapes are torch.profiler's", shapes(ours) == shapes(theirs),
          (shapes(ours) - shapes(theirs), shapes(theirs) - shapes(ours)))
    check("so are the links of the backward pass", backwards(ours) == backwards(theirs),
          (backwards(ours), backwards(theirs)))
    check("every backward operator has its forward", all(forward for _, forward in backwards(ours)), backwards(ours))
    check("a sleep of 50 ms", is_undisturbed(ours), [event for event in ours if event.name == "sleep"])
    allocated = sum(event.self_cpu_memory_usage for event in ours if event.self_cpu_memory_usage > 0)
    check("allocations", allocated > 0, allocated)
    check_script()
    print(f"PyTorch {torch.__version__}: {counts[True]} passed, {counts[False]} failed")
    return counts[False] != 0


sys.exit(main())
