#!/usr/bin/env python3
"""A training loop of ranks with gloo, one of which is slow in a known way: each step reads a batch, and
DistributedDataParallel adds up the gradients of all ranks. doc/how/ranks.md shows what `dwell ranks` says of it.

    dwell run -o job.dwell -- torchrun --nproc-per-node 4 ddp_ranks.py 40 data 2 20
    dwell ranks job.dwell

usage: ddp_ranks.py [--fork N] STEPS [data|compute|collector|between|once|stop RANK MS]

  data            reading a batch takes MS longer: 32 sleeps
  compute         the forward pass multiplies matrices for MS longer
  collector       the rank collects garbage in each step, among so many objects that it takes about MS
  between         the rank sleeps for MS between each two steps, as where a program writes logs
  once            only step 20 takes longer, in data
  stop            the rank sleeps for MS before step 20 and enters no collective until then

The ranks are those of torchrun, accelerate, mpirun or srun; --fork N starts N ranks itself. At the end each
rank prints what it planted: "planted RANK NS", by its own clock.
"""
import gc
import os
import random
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

ONCE = 20
LAUNCHERS = (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
             ("SLURM_PROCID", "SLURM_NTASKS"))


class Plan:
    """What is slow in this rank."""

    def __init__(self, rank, what="", slow_rank=-1, ms=0):
        self.what = what if rank == int(slow_rank) else ""
        self.ms, self.ns, self.began = float(ms), 0, 0
        self.ballast, self.matrices = None, [torch.ones(256, 256) for _ in range(3)]

    def begin(self):
        """Before the loop: makes the objects that the collector looks at, and only those."""
        if self.what == "collector":
            gc.disable()
            gc.freeze()
            self.ballast = [[] for _ in range(100000)]
            took = min(self.time_a_collection() for _ in range(3))
            self.ballast = [[] for _ in range(int(100000 * self.ms * 1e6 / took))]
            gc.callbacks.append(self.collection)

    def time_a_collection(self):
        began = time.perf_counter_ns()
        gc.collect()
        return time.perf_counter_ns() - began

    def collection(self, phase, _info):
        if phase == "start":
            self.began = time.perf_counter_ns()
        else:
            self.ns += time.perf_counter_ns() - self.began

    def sleep(self, seconds):
        began = time.perf_counter_ns()
        time.sleep(seconds)
        self.ns += time.perf_counter_ns() - began

    def compute(self, ns):
        began = time.perf_counter_ns()
        while time.perf_counter_ns() - began < ns:
            torch.mm(*self.matrices[:2], out=self.matrices[2])
        self.ns += time.perf_counter_ns() - began

    def at(self, what, step=None):
        """Is slow, if this is the place for it."""
        if self.what == what == "collector":
            gc.collect()
        elif self.what == what == "compute":
            self.compute(self.ms * 1e6)
        elif self.what == what:
            for _ in range(32):
                self.sleep(self.ms / 32e3)
        elif self.what == "once" and what == "data" and step == ONCE:
            self.sleep(self.ms / 1e3)


class Net(torch.nn.Sequential):
    """Four linear layers; in a rank that computes slowly the forward pass takes longer."""

    def __init__(self, plan):
        super().__init__(*(torch.nn.Linear(256, 256) for _ in range(4)))
        self.plan = plan

    def forward(self, batch):
        with torch.no_grad():
            self.plan.at("compute")
        return super().forward(batch)


def batches(plan, steps):
    source = random.Random(1)
    for step in range(steps):
        plan.at("data", step)
        yield torch.full((64, 256), source.random())


def data(plan, steps):
    """The batches through a loader, as programs read them."""
    class Batches(torch.utils.data.IterableDataset):
        def __iter__(self):
            return batches(plan, steps)
    return torch.utils.data.DataLoader(Batches(), batch_size=None)


def train(rank, world, meeting, steps, plan):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=world)
    model = DistributedDataParallel(Net(plan))
    optimizer = torch.optim.SGD(model.parameters(), .01)
    plan.begin()
    for step, batch in enumerate(data(plan, steps)):
        if plan.what == "stop" and step == ONCE:
            plan.sleep(plan.ms / 1e3)
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        plan.at("collector")
        optimizer.step()
        plan.at("between")
    # gloo's threads end with the last collective first: PyTorch 2.13 deadlocks if the model is freed before.
    time.sleep(.1)
    dist.destroy_process_group()
    print(f"planted {rank} {plan.ns}", flush=True)


def main(arguments):
    forks = int(arguments[1]) if arguments[:1] == ["--fork"] else 0
    arguments = arguments[2:] if forks else arguments
    steps, plan = int(arguments[0]), arguments[1:4]
    if not forks:
        rank, world = next((int(os.environ[rank]), int(os.environ[world])) for rank, world in LAUNCHERS
                           if rank in os.environ)
        train(rank, world, os.environ.get("MEETING", "env://"), steps, Plan(rank, *plan))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        ranks = []
        for rank in range(forks):
            ranks.append(os.fork())
            if not ranks[-1]:
                train(rank, forks, f"file://{folder}/meeting", steps, Plan(rank, *plan))
                sys.stdout.flush()
                os._exit(0)
        return max(os.waitstatus_to_exitcode(os.waitpid(rank, 0)[1]) for rank in ranks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
