#!/usr/bin/python3
"""Ranks under `dwell run`: one trace with each rank's steps and what it waits for.

usage: torch_ranks_test.py path/to/dwell

Ranks that torchrun starts: tests/ranks/gloo_test.py.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch, or one without ranks.
"""
import json
import os
import subprocess
import sys
import tempfile

import installed

TORCH = installed.need("torch")
if TORCH[0] == "1":  # Debian's on some machines
    import torch.distributed
    if not torch.distributed.is_available():
        print("skip torch_ranks_test: this PyTorch was built without torch.distributed")
        sys.exit(77)

# Rank 1 is late by 30 ms in every step; rank 0 waits for it in its first allreduce.
# It starts its ranks itself.
SCRIPT = """
import os, subprocess, sys, time
if "RANK" not in os.environ:
    ranks = [subprocess.Popen([sys.executable] + sys.argv, env=dict(os.environ, RANK=rank, WORLD_SIZE="2"))
             for rank in "01"]
    sys.exit(max(rank.wait() for rank in ranks))
""" + installed.LIGHT + """
import torch, torch.distributed as dist
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=int(os.environ["RANK"]), world_size=2)
torch.set_num_threads(1)
net = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(net.parameters(), lr=.001)
for i in range(12):
    optimizer.zero_grad()
    net(torch.ones(8, 64)).square().mean().backward()
    if dist.get_rank() == 1:
        time.sleep(.03)
    for parameter in net.parameters():
        dist.all_reduce(parameter.grad)
    optimizer.step()
dist.destroy_process_group()
"""
# The same with DistributedDataParallel, which waits for the gradients of the other rank at the
# end of its backward; its name is what the range of that wait is found by. Its ranks fork from a process that has
# imported PyTorch, and its compiler, which DistributedDataParallel needs.
FORK = """
import os, sys, time, torch
if hasattr(torch, "compile"): import torch._dynamo
for rank in "01":
    if not os.fork():
        os.environ.update(RANK=rank, WORLD_SIZE="2")
        break
else:
    sys.exit(max(os.waitstatus_to_exitcode(os.wait()[1]) for _ in "01"))
"""
REDUCED = FORK + SCRIPT.partition(installed.LIGHT)[2].replace("net = torch.nn.Linear(64, 64)",
                         "net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))").replace(
    """    net(torch.ones(8, 64)).square().mean().backward()
    if dist.get_rank() == 1:
        time.sleep(.03)
    for parameter in net.parameters():
        dist.all_reduce(parameter.grad)
""", """    if dist.get_rank() == 1:
        time.sleep(.03)
    net(torch.ones(8, 64)).square().mean().backward()
    dist.all_gather_object([None, None], {"step": i})
""")
# Two stages: rank 0 sends to rank 1, which sends gradients back and takes longer.
STAGES = FORK + SCRIPT.partition(installed.LIGHT)[2].partition("for i in")[0] + """
rank, other = dist.get_rank(), 1 - dist.get_rank()
for i in range(12):
    batch = torch.ones(8, 64)
    if rank == 0:
        out = net(batch)
        dist.isend(out.detach(), other).wait()
        dist.recv(batch, other)
        out.backward(batch)
    else:
        dist.irecv(batch, other).wait()
        batch.requires_grad_()
        time.sleep(.03)
        net(batch).square().mean().backward()
        dist.send(batch.grad, other)
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
"""
WAIT = "DistributedDataParallel.finalize_backward"
counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


def rows(dwell, trace, *options):
    done = subprocess.run([dwell, "report", "--format", "json", *options, trace], capture_output=True, text=True,
                          check=False)
    view = json.loads(done.stdout)["views"][0]
    names = [column["name"] for column in view["columns"]]
    return [dict(zip(names, row)) for row in view["rows"]]


def record(dwell, folder, name, text=SCRIPT):
    """The trace of the script's two ranks; whatever starts them, they are the program's processes."""
    trace, script = os.path.join(folder, name + ".dwell"), os.path.join(folder, "train.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([dwell, "run", "--cost", "full", "-o", trace, "--", sys.executable, script,
                           os.path.join(folder, name)], capture_output=True, text=True, check=False)
    check(f"{name}: ends well", done.returncode == 0, done.stderr[-800:])
    text = subprocess.run([dwell, "report", trace], capture_output=True, text=True, check=False).stdout
    check(f"{name}: 12 steps of each rank", "24 steps of 2 processes" in text, text[:300])
    return trace


def collectives(dwell, trace):
    """The rows of the collectives that `dwell ranks` compares: operation, ranks, count, bytes."""
    done = subprocess.run([dwell, "ranks", "--format", "json", trace], capture_output=True, text=True, check=False)
    views = {view["part"]: view for view in json.loads(done.stdout)["views"]}
    names = [column["name"] for column in views["collectives"]["columns"]]
    rows_ = [dict(zip(names, row)) for row in views["collectives"]["rows"]]
    return [(row["operation"], row["ranks"], row["count"], row["bytes"]) for row in rows_
            if row["count"]]


def main():
    dwell = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        trace = record(dwell, folder, "subprocesses")
        phases = {row["phase"]: row for row in rows(dwell, trace, "-v", "phases") if row["where"] == "steps"}
        # Half of 30 ms a step at least, since rank 1 waits for nobody that sleeps. On a busy machine
        # both wait longer, so there is no upper bound but the steps.
        share = phases.get("communication", {}).get("per_step_ns", 0) / 1e6
        check("rank 0 waits for rank 1", 13 <= share and phases["communication"]["share"] <= 1, phases)
        names = {row["name"] for row in rows(dwell, trace, "-v", "operators", "-n", "all")}
        check("the collectives are operators too", "c10d::allreduce_" in names, sorted(names))
        # The gradients of 64 x 64 weights and of 64 biases, in floats of 4 bytes.
        found = collectives(dwell, trace)
        check("collectives of both ranks with their bytes", found == [("all_reduce", 2, 24, 8320)], found)
        trace = record(dwell, folder, "reducer", text=REDUCED)
        found = collectives(dwell, trace)
        check("the reducer's collectives", ("all_reduce", 2, 12, 16640) in found, found)
        check("the collectives of objects: lengths and bytes", [row[:3] for row in found if row[0] != "all_reduce"] ==
              [("all_gather", 2, 24)], found)
        objects = [row for row in rows(dwell, trace, "-v", "tree", "-n", "all") if "object" in row["name"]]
        check("the exchange of objects is communication: once a step and rank", [row["calls"] for row in objects] == [12, 12], objects or sorted({row["name"] for row in rows(dwell, trace, "-v", "tree", "-n", "all")}))
        # All but a few of rank 0's 12 steps wait for at least the sleep; how much more, is the machine's.
        waits = [row for row in rows(dwell, trace, "-v", "tree", "-n", "all") if row["name"] == WAIT]
        phases = {row["phase"]: row for row in rows(dwell, trace, "-v", "phases") if row["where"] == "steps"}
        check("the reducer's wait: once a step and rank", [row["calls"] for row in waits] == [12, 12], waits)
        check("the reducer's wait: rank 0 waits for rank 1",
              max((row["total_ns"] for row in waits), default=0) >= 11 * 25e6, waits)
        check("the reducer's wait: communication", phases.get("communication", {}).get("total_ns", 0) >= 11 * 25e6, phases)
        said = subprocess.run([dwell, "ranks", trace], capture_output=True, text=True, check=False).stdout
        check("dwell ranks names the rank that is late", said.startswith("Rank 1 is slow"), said)
        summary = subprocess.run([dwell, "ranks", trace + ".sum"], capture_output=True, text=True, check=False).stdout
        check("the run's summary says the same", summary == said, summary)
        trace = record(dwell, folder, "stages", text=STAGES)
        found = collectives(dwell, trace)
        # What rank 1 receives first comes before its first step.
        check("messages of two ranks, counted by both", sorted(row[0] for row in found) == ["recv", "recv", "send", "send"] and
              all(row[1] == 1 and row[2] in (11, 12) and row[3] == 2048 for row in found), found)
        said = subprocess.run([dwell, "ranks", trace], capture_output=True, text=True, check=False).stdout
        check("the pair and its group are named", "0 -> 1 of " in said and "1 -> 0 of " in said, said)
        check("the ranks are stages, of which one works longest", "stages of a pipeline" in said and "Stage 1 works longest" in said, said)
        said = subprocess.run([dwell, "report", trace], capture_output=True, text=True, check=False).stdout
        check("the advice is that for messages", "Messages between ranks take" in said and "no_sync" not in said, said[:1500])
    print(f"{counts[True]} passed, {counts[False]} failed")
    return counts[False] != 0


sys.exit(main())
