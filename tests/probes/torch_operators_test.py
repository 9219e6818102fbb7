#!/usr/bin/python3
"""dwell's operators against torch.profiler's, of the same run: names, shapes, links.

usage: torch_operators_test.py path/to/dwell

Runs a small training under `dwell run --shapes` with torch.profiler on as well. What
both recorded inside one zone must be the same: how often each name, each name with each
shape, each backward operator with each sequence number (and it must know its forward
thread). Forward operators that have a sequence number in dwell's trace, because they
made a node of the graph, must have torch.profiler's. Order is not compared: 1.13 knows
microseconds only.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter

import installed

TORCH = installed.need("torch")
if "--train" in sys.argv:
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    from torch.profiler import ProfilerActivity, profile, record_function

ZONE = "what is compared"
BACKWARD_SCOPE, USER_SCOPE = 1, 7


def train(result):
    # It leaves out an only child with its parent's name; where, depends on its clock.
    torch.autograd.profiler_util.EventList._remove_dup_nodes = lambda events: None
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(),
                        nn.Linear(4 * 36, 5))
    optimizer = torch.optim.Adam(net.parameters())

    def step():
        x, y = torch.randn(3, 1, 8, 8), torch.tensor([1, 2, 3])
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        x[0].expand(2, 1, 3, 1, 8, 8).sum()             # six dimensions: sizes out of line
        x[:, torch.tensor([0])]                         # an undefined tensor in a list
        torch.empty(0).sum().to(torch.float64)

    step()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        with record_function(ZONE):
            step()
            step()
    events = [[e.time_range.start, e.time_range.end, e.name,
               [list(s) if isinstance(s, (list, tuple)) else [] for s in e.input_shapes or []],
               e.sequence_nr, e.scope] for e in profiler.events()]
    with open(result, "w", encoding="utf-8") as file:
        file.write(json.dumps(events))


def inside(events):
    """(start, end, ...) of what lies inside the zone."""
    zone = next(e for e in events if e[2] == ZONE)
    return [e for e in events if e is not zone and e[0] >= zone[0] and e[1] <= zone[1]]


def flat(shape):
    """1.13 leaves lists of tensors empty, as dwell does; later ones name each tensor."""
    return tuple(() if any(isinstance(size, list) for size in sizes) else tuple(sizes)
                 for sizes in shape)


def ours(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)["traceEvents"]
    events = []
    for e in trace:
        args = e.get("args", {})
        if e["ph"] == "X" and (e["cat"] == "cpu_op" or args.get("Category") == "zone"):
            events.append([e["ts"], e["ts"] + e["dur"], e["name"], args.get("Input Dims", []),
                           args.get("Sequence number", -1), args.get("Fwd thread id", 0), e["cat"]])
    return events


def main():
    dwell, failures = os.path.abspath(sys.argv[1]), 0

    def check(name, passed, detail):
        nonlocal failures
        failures += not passed
        print(f"{'ok  ' if passed else 'FAIL'} {name}: {detail}")

    with tempfile.TemporaryDirectory() as folder:
        events, trace = os.path.join(folder, "events.json"), os.path.join(folder, "t.dwell")
        chrome = os.path.join(folder, "t.json")
        done = subprocess.run([dwell, "run", "--cost", "full", "--shapes", "-o", trace, sys.executable, __file__,
                               "--train", events], capture_output=True, text=True)
        check("the run", done.returncode == 0 and "not known" not in done.stderr,
              "\n".join(done.stderr.strip().splitlines()[-1 if done.returncode == 0 else -12:]))
        subprocess.run([dwell, "export", "-f", "chrome", "-o", chrome, trace], check=True)
        with open(events, encoding="utf-8") as file:
            theirs = inside(json.load(file))
        mine = inside(ours(chrome))

    def same(name, ours_, theirs_):
        ours_, theirs_ = Counter(ours_), Counter(theirs_)
        more, less = ours_ - theirs_, theirs_ - ours_
        check(name, ours_ and not more and not less, f"{sum(ours_.values())} of {len(ours_)} kinds" +
              (f"; only in dwell {list(more)[:3]}" if more else "") +
              (f"; only in torch.profiler {list(less)[:3]}" if less else ""))

    operators = [e for e in mine if e[6] == "cpu_op"]
    same("names", (e[2] for e in mine), (e[2] for e in theirs))
    same("shapes", ((e[2], flat(e[3])) for e in operators),
         ((e[2], flat(e[3])) for e in theirs if e[5] != USER_SCOPE))
    same("sequence numbers of backward operators",
         ((e[2], e[4]) for e in operators if e[5]),
         ((e[2], e[4]) for e in theirs if e[5] == BACKWARD_SCOPE and e[4] >= 0))
    forward = Counter((e[2], e[4]) for e in operators if e[4] >= 0 and not e[5])
    wrong = forward - Counter((e[2], e[4]) for e in theirs if e[5] == 0)
    check("sequence numbers of forward operators", forward and not wrong,
          f"{sum(forward.values())} {list(wrong)[:3] if wrong else ''}")
    print(f"PyTorch {TORCH}: {'failed' if failures else 'all passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--train":
        train(sys.argv[2])
    elif len(sys.argv) == 2:
        sys.exit(main())
    else:
        sys.exit(__doc__)
