"""A script that trains, and then hangs, dies or ends; for planted.py.

usage: planted_program.py KIND FORM STEP CULPRIT

KIND: python, one process; ddp, ranks of torchrun with gloo; rpc, a trainer that asks a server by RPC. FORM happens in step
STEP, of rank CULPRIT alone.
"""
import os
import queue
import signal
import sys
import threading
import time

import torch

kind, form, at, culprit = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
torch.set_num_threads(1)


def deadlock():
    first, second = threading.Lock(), threading.Lock()

    def other():
        with second:
            time.sleep(0.2)
            first.acquire()
    threading.Thread(target=other, daemon=True).start()
    with first:
        time.sleep(0.2)
        second.acquire()


def loop():
    turns = 0
    while True:
        turns += 1


def plant():
    """What needs no other rank."""
    forms = {"sleep": lambda: time.sleep(10000), "data": lambda: os.read(os.pipe()[0], 1), "locks": deadlock, "loop": loop,
             "queue": lambda: queue.Queue().get(), "event": lambda: threading.Event().wait(),
             "kill": lambda: os.kill(os.getpid(), signal.SIGKILL), "abort": lambda: os.kill(os.getpid(), signal.SIGABRT),
             "segv": lambda: os.kill(os.getpid(), signal.SIGSEGV)}
    forms.get(form, lambda: None)()


def plant_between(rank, ranks):
    if form == "other":
        if rank == culprit:
            torch.distributed.barrier()
        else:
            torch.distributed.all_reduce(torch.ones(1))
    elif form == "receive" and rank == culprit:
        torch.distributed.recv(torch.zeros(4), src=(culprit + 1) % ranks)
    elif form == "send":
        torch.distributed.recv(torch.zeros(4), src=(rank + 1) % ranks)


def train(model, rank=0, ranks=1):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(at if form == "end" else 10 ** 6):
        time.sleep(0.01)
        if step == at:
            if rank == culprit:
                plant()
            if ranks > 1:
                plant_between(rank, ranks)
        loss = model(torch.randn(8, 32)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def run_ddp():
    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(32, 8))
    train(model, torch.distributed.get_rank(), torch.distributed.get_world_size())
    torch.distributed.destroy_process_group()


def serve(step, batch):
    """On the server: what a trainer asks for."""
    if step == at and culprit == 0:
        plant()
    return batch.sum()


def run_rpc():
    from torch.distributed import rpc
    rank = int(os.environ["RANK"])
    rpc.init_rpc(("server", "trainer")[rank], rank=rank, world_size=2)
    if rank:
        model = torch.nn.Linear(32, 8)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(at if form == "end" else 10 ** 6):
            time.sleep(0.01)
            if step == at and culprit == 1:
                plant()
            batch = torch.randn(8, 32)
            rpc.rpc_sync("server", serve, args=(step, batch), timeout=0)
            loss = model(batch).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    rpc.shutdown()


if kind == "ddp":
    run_ddp()
elif kind == "rpc":
    run_rpc()
else:
    train(torch.nn.Linear(32, 8))
