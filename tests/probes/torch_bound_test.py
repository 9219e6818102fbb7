#!/usr/bin/python3
"""dwell run --cost: where operators would cost too much, some steps are recorded without them.

usage: torch_bound_test.py path/to/dwell

A script with steps of small operators, which cost about a tenth of a step, is recorded by default and with
--cost full. Operators and layers are in the steps that the trace says, phases in all that are not brief, and zones in all.
Operators a step are the same with both. Calls of a model in a loop are bounded as training is. Which steps are brief depends on
their numbers, and what hooks cost is what they take: the script takes them out and puts them back, by turns.
 Small blocks of steps without operators are recorded if they stay.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

import forked
import installed

TORCH = installed.need("torch")
STEPS = 600
WHOLE = 2  # the first ones, whatever they cost
LONGEST_WHOLE = 256  # no step before is brief
FIRST = 8  # those that are recorded as far as they are paid for; later ones are chosen at random

SERVER = forked.Server("torch.profiler", shared=True)
SCRIPT = f"""
import torch
torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for i in range({STEPS}):
    optimizer.zero_grad()
    with torch.profiler.record_function("zone"):
        loss = net(torch.ones(8, 4)).square().mean()
    loss.backward()
    optimizer.step()
"""
# Each step keeps a small and a large block, and makes others that it frees.
KEEPS = f"""
import ctypes
import torch
torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)
kept = []
ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))  # so that nothing frees them at the end
for i in range({STEPS}):
    optimizer.zero_grad()
    loss = net(torch.ones(8, 4)).square().mean()
    kept.append(torch.empty(100))
    if i % 100 == 0:
        kept.append(torch.empty(1 << 20))
    loss.backward()
    optimizer.step()
"""
# Two optimizers, which step in turn: the reader decides that both are of one iteration.
PAIR = f"""
import torch
torch.set_num_threads(1)
nets = [torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2)) for _ in range(2)]
optimizers = [torch.optim.SGD(net.parameters(), lr=1e-2) for net in nets]
for i in range({STEPS}):
    for net, optimizer in zip(nets[::ORDER], optimizers[::ORDER]):
        optimizer.zero_grad()
        net(torch.ones(8, 4)).square().mean().backward()
        optimizer.step()
"""
# Each phase has many operators, and takes more than a millisecond; no Python lies between them.
LONG = """
import torch
torch.set_num_threads(1)
weights = torch.nn.Parameter(torch.randn(32, 32) * 0.1)
optimizer = torch.optim.SGD([weights], lr=1e-3)
values = torch.randn(64, 32)
for i in range(150):
    optimizer.zero_grad()
    x = values
    for j in range(200):
        x = torch.tanh(x @ weights)
    x.square().mean().backward()
    optimizer.step()
"""
# Nothing trains: steps are iterations of a loop, which operators show until it is known. One loop, and two in turn in a third one.
INFERS = """
import torch
torch.set_num_threads(1)
net = torch.nn.Sequential(*(torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.GELU()) for _ in range(12))).eval()
x = torch.randn(4, 16)
def infer():
    with torch.no_grad():
        net(x)
"""
INFER = INFERS + """
for i in range(2000):
    infer()
"""
INFER_IN_TURN = INFERS + """
for i in range(100):
    for j in range(15):
        infer()
    for j in range(15):
        infer()
"""
# A program that does not repeat itself: each kind of thing that ends brief steps happens at some number of a step.
CHANGES = """
import torch
torch.set_num_threads(1)
def model():
    return torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
net, other = model(), model()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
class Fails(torch.nn.Module):
    def forward(self, x):
        if fails:
            raise ValueError
        return x
fails = False
net.append(Fails())
for i in range(3000):
    optimizer.zero_grad()
    if i % 701 == 700:
        fails = True
        try:
            net(torch.ones(8, 4))
        except ValueError:
            fails = False
    loss = net(torch.ones(8, 4)).square().mean()
    if i % 307 == 306:
        loss = loss + other(torch.ones(8, 4)).mean()
    loss.backward()
    if i % 401 == 400:
        net(torch.ones(8, 4)).mean().backward()
    optimizer.step()
    if i % 503 == 502:
        net.eval()
        with torch.no_grad():
            net(torch.ones(8, 4))
        net.train()
    if i == 1500:
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    if i % 907 == 906:
        torch.save(1, "/dev/null")
"""
# The script takes the hooks out and puts them back by turns, and compares the steps. It trains two models by turns: no step is brief then.
HOOKS = """
import time, torch
torch.set_num_threads(1)
nets = [torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)) for _ in range(2)]
optimizer, x = torch.optim.SGD([p for net in nets for p in net.parameters()], lr=1e-3), torch.randn(8, 32)
places = [(torch.nn.Module, "__call__"), (torch.optim.SGD, "step"), (torch.optim.Optimizer, "zero_grad"), (torch.autograd, "backward")]
hooks = [getattr(owner, name) for owner, name in places]
def turn(put):
    for (owner, name), hook in zip(places, hooks):
        setattr(owner, name, hook if put else hook.__wrapped__)
    for i in range(12):
        if i == 2:
            began = time.thread_time_ns()
        optimizer.zero_grad()
        nets[i % 2](x).square().mean().backward()
        optimizer.step()
    return (time.thread_time_ns() - began) / 10
pairs = [(turn(True), turn(False)) for i in range(240)][20:]
quarter = [sorted(times)[len(pairs) // 4] for times in zip(*pairs)]
print("HOOKS", quarter[0] - quarter[1])
"""
KEPT_BYTES = 400 * STEPS + (4 << 20) * STEPS // 100
counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    if not good:
        print(f"FAIL {what}: {said}")


def record(dwell, folder, name, options, text=SCRIPT):
    trace, script = os.path.join(folder, name + ".dwell"), os.path.join(folder, "train.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(text)
    done = SERVER.run(dwell, *options, "-o", trace, script=script)
    check(f"{name} runs", done.returncode == 0, done.stderr[-900:])
    return trace


def answer(dwell, *arguments):
    return subprocess.run([dwell, *arguments], check=True, capture_output=True, text=True).stdout


def ranges_by_step(dwell, trace):
    """Of each category: the steps with ranges of it, and how many each has."""
    said = json.loads(answer(dwell, "query", trace, "select category, step, count(*) from ranges where step is not null "
                             "group by category, step", "--format", "json"))
    found = {}
    for category, step, number in said["views"][0]["rows"]:
        found.setdefault(category, {})[int(step)] = number
    return found


# Programs whose iterations are brief: what there is to do in them besides a forward, a backward and a step. SETS is before the loop.
NET = "net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))"
LOOP = f"""
import sys
import time
import torch
torch.set_num_threads(1)
{NET}
x = torch.ones(8, 4)
SETS
def update():
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
for i in range(3000):
    BODY
"""
ACTS = """with torch.no_grad():
        net(x)
    update()"""
HEADS = """optimizer.zero_grad()
    sum(head(x).square().mean() for head in heads).backward()
    optimizer.step()"""
BY_HAND = """net(x).square().mean().backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 1e-2 * p.grad
            p.grad = None"""
MARKS = f"""sys.path.insert(0, {os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python")!r})
import dwell.profiler"""
IN_MARKS = """dwell.profiler.begin_step()
    update()
    dwell.profiler.end_step()"""
AFTER = """update()
    dwell.step()"""
SCALES = """optimizer.zero_grad()
    scaler.scale(net(x).square().mean()).backward()
    scaler.step(optimizer)
    scaler.update()"""
CLOSURE = """def closure():
        optimizer.zero_grad()
        loss = net(x).square().mean()
        if EVERY and i % 701 == 700:
            raise ValueError
        if EVERY and i % 503 == 502:
            net(x)
        loss.backward()
        return loss
    try:
        optimizer.step(closure)
    except ValueError:
        pass"""
PENALTY = """optimizer.zero_grad()
    z = x.clone().requires_grad_()
    torch.autograd.grad(net(z).sum(), z, create_graph=True)[0].square().mean().backward()
    optimizer.step()"""
GIVEN = """optimizer.zero_grad()
    for p, g in zip(net.parameters(), torch.autograd.grad(net(x).square().mean(), list(net.parameters()))):
        p.grad = g
    optimizer.step()"""
FUNCTIONAL = """gradients = torch.autograd.grad(net(x).square().mean(), list(net.parameters()))
    with torch.no_grad():
        for p, g in zip(net.parameters(), gradients):
            p -= 1e-2 * g"""
BRIEF_LOOPS = {  # the loop, what is before it, options
    "a policy acts between steps": (ACTS, "", []),
    "a step has 202 hooked calls": (HEADS, "heads = [torch.nn.Linear(4, 2) for _ in range(100)]", []),
    "there is no optimizer": (BY_HAND, None, []),
    "the program marks steps around them": (IN_MARKS, MARKS, []),
    "the program marks the end of steps": (AFTER, MARKS, []),
    "the user named a function": ("update()", "", ["--step-on", "update"]),
    "the optimizer calls a closure": (CLOSURE, "EVERY = 0", []),
    "autograd.grad() and a backward": (PENALTY, "", []),
    "autograd.grad() in place of a backward": (GIVEN, "", []),
    "autograd.grad() without an optimizer": (FUNCTIONAL, None, []),
    "a scaler calls the optimizer": (SCALES, "scaler = torch.amp.GradScaler('cpu')", []),
}
SLOW = """update()
    if i % 1000 == 800:
        time.sleep(0.2)"""
KILL = """
    if i == 2222:
        os.kill(os.getpid(), signal.SIGKILL)"""
REDUCED, BRIEF = "recorded without operators", "only begin and end were recorded"


def lacks(row):
    """What the trace does not have of a step; before it may be why it was slow."""
    return row["why"].split("; ")[-1]


def steps_that_are(dwell, trace, *why):
    rows = csv.DictReader(answer(dwell, "report", trace, "--view", "steps", "-n", "all", "--format", "csv").splitlines())
    return {int(row["step"]) for row in rows if lacks(row) in why}


def reduced_steps(dwell, trace):
    return steps_that_are(dwell, trace, REDUCED, BRIEF)


def check_full(dwell, trace):
    found = ranges_by_step(dwell, trace)
    check("with --cost full no step is reduced", not reduced_steps(dwell, trace))
    check("all steps have operators and layers", len(found["operator"]) == len(found["layer"]) == STEPS,
          (len(found["operator"]), len(found["layer"])))
    check("the report has no sentence on it", "chosen at random" not in " ".join(answer(dwell, "report", trace).split()))
    return found


def check_bounded(dwell, trace, full):
    reduced, found = reduced_steps(dwell, trace), ranges_by_step(dwell, trace)
    whole = set(range(STEPS)) - reduced
    check("some steps are reduced, and most of the later ones are not recorded whole",
          len(reduced) > (STEPS - WHOLE) / 2, len(reduced))
    check("the first steps are whole", set(range(WHOLE)) <= whole, sorted(whole)[:WHOLE])
    check("later ones are, too", len(whole) > WHOLE, len(whole))
    check("operators are in the whole steps alone", set(found["operator"]) == whole,
          set(found["operator"]) ^ whole)
    check("and layers", set(found["layer"]) == whole, set(found["layer"]) ^ whole)
    brief = steps_that_are(dwell, trace, BRIEF)
    check("the first steps are not brief, and most of the later ones are", brief and min(brief) >= LONGEST_WHOLE and
          len(brief) > (STEPS - LONGEST_WHOLE) / 2, (len(brief), min(brief, default=0)))
    check("each step has its zones", found["zone"] == full["zone"])
    check("each step that is not brief has its phases", {step: number for step, number in full["phase"].items() if step not in brief} ==
          {step: number for step, number in found["phase"].items() if step not in brief})
    check("and no brief one", not brief & set(found["phase"]), brief & set(found["phase"]))
    usual = max(full["operator"].values(), key=list(full["operator"].values()).count)
    odd = {step: number for step, number in found["operator"].items() if step and number != usual}
    check("a whole step has all of its operators", not odd, (usual, odd))
    later = sorted(step for step in whole if step >= FIRST)
    apart = {b - a for a, b in zip(later, later[1:])}
    check("chosen steps are not at equal distances", len(later) < 4 or len(apart) > 1, later)
    check("the report says it", f"were recorded in {len(whole)} of the steps, chosen at random"
          in " ".join(answer(dwell, "report", trace).split()), answer(dwell, "report", trace)[:400])
    check("and the view of operators says of how many steps its totals are",
          f"in {len(whole)} of {STEPS} steps" in answer(dwell, "report", trace, "--view", "operators"))
    info = answer(dwell, "info", trace)
    costs = [float(info.split(f"torch.{kind}_ns = ")[1].split()[0]) for kind in ("recorded", "reduced")]
    check("a step without operators costs much less", costs[1] < costs[0] / 4, costs)
    check("nothing is missing of the time", "Recorded:" not in answer(dwell, "report", trace))


def check_places(dwell, folder):
    """Operators that are not recorded are no Python between two recorded ones."""
    trace = record(dwell, folder, "long", ["--cost", "0.3%"], LONG)
    rows = csv.DictReader(answer(dwell, "report", trace, "--view", "facts", "-n", "all", "--format", "csv").splitlines())
    value = {row["fact"]: row["value"] for row in rows}
    check("some steps are reduced", len(reduced_steps(dwell, trace)) > 50)
    # The forward pass is two fifths of a step. A whole step that lost its CPU counts for fifteen others.
    check("no time in them is Python between operators", float(value["places.python"] or 0) < 0.3, value["places.python"])


def memory(dwell, trace):
    """Of all categories, by column."""
    rows = csv.DictReader(answer(dwell, "report", trace, "--view", "memory", "--format", "csv").splitlines())
    sums = {}
    for row in rows:
        if row.get("category") is None or not str(row.get("allocations", "")).isdigit():
            break
        for column in ("live_bytes", "allocations", "frees"):
            sums[column] = sums.get(column, 0) + int(row[column])
    return sums


def check_memory(dwell, folder):
    full = memory(dwell, record(dwell, folder, "keeps_full", ["--cost", "full"], KEEPS))
    few = memory(dwell, record(dwell, folder, "keeps", ["--cost", "0.01%"], KEEPS))
    check("blocks that stay are all recorded", full["live_bytes"] == few["live_bytes"] >= KEPT_BYTES, (full, few))
    check("blocks that steps free are not", few["allocations"] < full["allocations"] / 4, (full, few))
    check("the same blocks are live", full["allocations"] - full["frees"] == few["allocations"] - few["frees"], (full, few))


def check_pair(dwell, folder, order):
    trace = record(dwell, folder, "pair", ["--cost", "1%"], PAIR.replace("ORDER", order))
    reduced = reduced_steps(dwell, trace)
    rows = list(csv.DictReader(answer(dwell, "report", trace, "--view", "steps", "-n", "all", "--format", "csv").splitlines()))
    check("two optimizers that step in turn are one iteration", len(rows) == STEPS, len(rows))
    whole = sorted(set(range(STEPS)) - reduced)
    check("some of their iterations are recorded whole", len(whole) > WHOLE, whole)
    check("and most are not", len(reduced) > STEPS / 3, len(reduced))


def check_inference(dwell, folder, text, steps, most):
    trace = record(dwell, folder, "infer", ["--cost", "0.3%"], text)
    rows = list(csv.DictReader(answer(dwell, "report", trace, "--view", "steps", "-n", "all", "--format", "csv").splitlines()))
    reduced, brief, found = reduced_steps(dwell, trace), steps_that_are(dwell, trace, BRIEF), ranges_by_step(dwell, trace)
    check("each call of a model in a loop is a step", len(rows) == steps, len(rows))
    check("their cost is bounded too", len(rows) - len(reduced) <= most, len(rows) - len(reduced))
    check("some of them are brief", len(brief) > 100, len(brief))
    check("operators are in the whole steps alone", not set(found["operator"]) & reduced, len(set(found["operator"]) & reduced))
    check("and what oneDNN announces of them", not set(found.get("zone", {})) & reduced, list(found.get("zone", {}).items())[:3])
    check("each step that is not brief has its forward", len(set(range(steps)) - brief - set(found["phase"])) <= 1,
          sorted(set(range(steps)) - brief - set(found["phase"]))[:9])


def check_changes(dwell, folder):
    """What the program does in another way is found, and no step is lost or too many."""
    steps = 3000
    trace = record(dwell, folder, "changes", ["--cost", "0.6%"], CHANGES)
    rows = list(csv.DictReader(answer(dwell, "report", trace, "--view", "steps", "-n", "all", "--format", "csv").splitlines()))
    brief = steps_that_are(dwell, trace, BRIEF)
    check("each update is a step", len(rows) == steps, len(rows))
    check("most of them are brief", len(brief) > steps / 4, len(brief))
    said = json.loads(answer(dwell, "query", trace, "select count(*) from ranges where category = 'evaluation'", "--format", "json"))
    check("each evaluation is found", said["views"][0]["rows"][0][0] == steps // 503, said["views"][0]["rows"])
    starts = [int(row["start_ns"]) for row in rows]
    check("they are in order and do not overlap", all(start + float(row["duration_ns"]) <= after + 1 for start, row, after in
                                                      zip(starts, rows, starts[1:])))


def rows_of(dwell, trace):
    return list(csv.DictReader(answer(dwell, "report", trace, "--view", "steps", "-n", "all", "--format", "csv").splitlines()))


def loop(body, sets):
    """`sets`: what is made before the loop besides an optimizer; None: no optimizer, either."""
    made = "" if sets is None else f"optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)\n{sets}"
    return LOOP.replace("SETS", made).replace("BODY", body)


def check_loops(dwell, folder):
    """Whatever a program does in its steps, most of them are brief, and none is missing. What lies between them is recorded as always."""
    for name, (body, sets, options) in BRIEF_LOOPS.items():
        if "GradScaler" in (sets or "") and not hasattr(__import__("torch").amp, "GradScaler"):
            continue
        trace = record(dwell, folder, "loop", ["--cost", "0.3%", *options], loop(body, sets))
        rows = rows_of(dwell, trace)
        brief = steps_that_are(dwell, trace, BRIEF)
        check(f"{name}: each step is there", [int(row["step"]) for row in rows] == list(range(3000)), (len(rows), rows[:1], rows[-1:]))
        check(f"{name}: most are brief", len(brief) > 1500, len(brief))
        said = json.loads(answer(dwell, "query", trace, "select count(*) from ranges where category = 'evaluation'", "--format", "json"))
        number = said["views"][0]["rows"][0][0] if said["views"][0]["rows"] else 0
        check(f"{name}: each evaluation is there", number == (3000 if body == ACTS else 0), number)


def check_closures(dwell, folder):
    """A closure that raises, and one that calls more than usual: the steps are those of a run in which all are recorded."""
    counts_of, options = [], (["--cost", "full"], ["--cost", "0.3%"])
    for cost in options:
        trace = record(dwell, folder, "closures", cost, loop(CLOSURE, "EVERY = 1"))
        counts_of.append(len(rows_of(dwell, trace)))
    check("closures that change: each step is there", counts_of[0] == counts_of[1] and counts_of[0] >= 2990, counts_of)
    brief = len(steps_that_are(dwell, trace, BRIEF))
    check("closures that change: most are brief", brief > 1000, brief)


def check_slow_brief(dwell, folder):
    """A slow step is named with its time, whatever was recorded of it."""
    trace = record(dwell, folder, "slow", ["--cost", "0.3%"], loop(SLOW, ""))
    slow = [row for row in rows_of(dwell, trace) if float(row["until_next_ns"] or 0) > 0.2e9]
    check("the slow iterations are there", {int(row["step"]) for row in slow} >= {800, 1800, 2800}, [row["step"] for row in slow])
    body = IN_MARKS.replace("update()", "update()\n    time.sleep(0.2 if i == 2000 else 0)")
    trace = record(dwell, folder, "slow", ["--cost", "0.3%"], loop(body, MARKS))
    text = " ".join(answer(dwell, "report", trace).split())
    row = rows_of(dwell, trace)[2000]
    check("the slow step was not recorded whole", lacks(row) in (REDUCED, BRIEF), row)
    check("the report names it with its time", "Slowest: step 2000 took 2" in text and f"({lacks(row)}" in text, text[-900:])


def check_killed(dwell, folder):
    """A program that is killed has each step that it began, also brief ones."""
    trace, script = os.path.join(folder, "killed.dwell"), os.path.join(folder, "train.py")
    for body in ("update()", ACTS, IN_MARKS):
        body += KILL
        with open(script, "w", encoding="utf-8") as file:
            file.write("import os\nimport signal\n" + loop(body, MARKS))
        SERVER.run(dwell, "--cost", "0.3%", "-o", trace, script=script, check=False)
        rows, brief = rows_of(dwell, trace), steps_that_are(dwell, trace, BRIEF)
        check("a killed program has all of its steps", [int(row["step"]) for row in rows] == list(range(2223)), (body, len(rows)))
        check("and most were brief", len(brief) > 1000, (body, len(brief)))


def check_levels(dwell, folder):
    """Two processes of a job that are at two levels share the sparser one's steps."""
    script, trace = os.path.join(folder, "train.py"), os.path.join(folder, "levels.dwell")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT.replace(f"range({STEPS})", "range(4000)"))
    both = f'{sys.executable} {script}; DWELL_OPTIONS="cost=1500 ${{DWELL_OPTIONS#* }}" {sys.executable} {script}'
    subprocess.run([dwell, "run", "--cost", "1.2%", "-o", trace, "sh", "-c", both], check=True, capture_output=True)
    rows = list(csv.DictReader(answer(dwell, "report", trace, "--view", "steps", "-n", "all", "--format", "csv").splitlines()))
    check("both have all of their steps", len(rows) == 8000, len(rows))
    whole = [{int(row["step"]) for row in half if lacks(row) != BRIEF and int(row["step"]) >= 2000} for half in (rows[:4000], rows[4000:])]
    check("fewer steps are whole at a lower cost", len(whole[1]) * 1.5 < len(whole[0]) < 1500, [len(steps) for steps in whole])
    check("and these are among the others", whole[1] <= whole[0], sorted(whole[1] - whole[0])[:9])


def check_hooks(dwell, folder):
    script = os.path.join(folder, "hooks.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(HOOKS)
    trace = os.path.join(folder, "hooks.dwell")
    done = subprocess.run([dwell, "run", "--cost", "0.01%", "-o", trace, sys.executable, script], check=True, capture_output=True, text=True)
    measured = float(done.stdout.split("HOOKS ")[1])
    stated = float(answer(dwell, "info", trace).split("torch.reduced_ns = ")[1].split()[0])
    check("what is stated of hooks is what they take, within a factor of two", measured / 2 <= stated <= 2 * measured, (measured, stated))


def check_clock(dwell, folder):
    """A step of a fraction of a millisecond does not ask the kernel for the time of the CPU."""
    script, out = os.path.join(folder, "train.py"), os.path.join(folder, "calls")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT.replace(f"range({STEPS})", "range(4000)"))
    if not shutil.which("strace"):
        print("skip calls of the kernel: strace is missing")
        return
    done = subprocess.run([dwell, "run", "--sample", "off", "--cost", "0.01%", "-o", os.path.join(folder, "clock.dwell"), "strace", "-qq", "-e",
                           "trace=clock_gettime", "-o", out, sys.executable, script], capture_output=True, text=True, check=False)
    if done.returncode:
        print("skip calls of the kernel: strace may trace nothing here")
        return
    with open(out, encoding="utf-8") as file:
        calls = sum("CPUTIME" in line for line in file)
    check("the CPU's time is read in few steps", calls < 2000, calls)


def check_price(dwell, folder):
    """A short run with expensive steps pays no more than it may: of all processor time of its process."""
    trace = record(dwell, folder, "short", ["--cost", "1%"], LONG)
    info = answer(dwell, "info", trace)
    recorded, reduced = (float(info.split(f"torch.{kind}_ns = ")[1].split()[0]) for kind in ("recorded", "reduced"))
    rows = list(csv.DictReader(answer(dwell, "report", trace, "--view", "steps", "-n", "all", "--format", "csv").splitlines()))
    few = sum(lacks(row) == REDUCED for row in rows)
    took = sum(float(row["duration_ns"]) for row in rows)
    paid, price = recorded * (len(rows) - few), 0.01 * took + (WHOLE + 1) * recorded
    check("a short run pays for the steps that it records whole", paid <= price, (paid, price, few, took))


def main():
    dwell = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        full = check_full(dwell, record(dwell, folder, "full", ["--cost", "full"]))
        check_bounded(dwell, record(dwell, folder, "bounded", ["--cost", "0.6%"]), full)
        few = set(range(STEPS)) - reduced_steps(dwell, record(dwell, folder, "few", ["--cost", "0.01%"]))
        check("expensive first steps are few", set(range(WHOLE)) <= few and len(few) < WHOLE + 5, sorted(few))
        check_price(dwell, folder)
        check_clock(dwell, folder)
        check_hooks(dwell, folder)
        check_inference(dwell, folder, INFER, 2000, 200)
        check_inference(dwell, folder, INFER_IN_TURN, 3000, 1500)
        check_changes(dwell, folder)
        check_loops(dwell, folder)
        check_closures(dwell, folder)
        check_slow_brief(dwell, folder)
        check_killed(dwell, folder)
        check_levels(dwell, folder)
        check_memory(dwell, folder)
        for order in ("1", "-1"):
            check_pair(dwell, folder, order)
        check_places(dwell, folder)
        stacks = record(dwell, folder, "stacks", ["--stacks"])
        check("stacks are recorded whole by default", not reduced_steps(dwell, stacks))
        chosen = record(dwell, folder, "chosen", ["--steps", "100..199"])
        check("chosen steps are recorded whole", set(ranges_by_step(dwell, chosen)["operator"]) == set(range(100, 200)))
        wrong = subprocess.run([dwell, "run", "--cost", "1", "true"], capture_output=True, text=True, check=False)
        check("a wrong --cost is an error", wrong.returncode == 2 and "--cost 1: give a part" in wrong.stderr, wrong)
    print(f"{counts[True]} passed, {counts[False]} failed (PyTorch {TORCH})")
    return 1 if counts[False] else 0


sys.exit(main())
