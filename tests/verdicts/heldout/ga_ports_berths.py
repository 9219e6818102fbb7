"""Predicts how long ships stay at their berths, on two ranks that share one model of all ports.

Planted: after each step every rank sends all its predictions, with the names of the ships, to every other rank
by all_gather_object(), for a report that is printed at the end of an epoch.
Truth: time in all_gather_object(), of rank 0's loop.
"""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from stopwatch import Stopwatch

FIELDS, BATCH = 40, 512


class Report:
    """The worst predictions of an epoch, over all ranks."""

    def __init__(self, watch):
        self.watch, self.rows = watch, []

    def add(self, ships, hours, truth):
        mine = [{"ship": s, "hours": h, "truth": t} for s, h, t in zip(ships, hours.flatten().tolist(), truth.flatten().tolist())]
        with self.watch.planted():
            everyone = [None] * dist.get_world_size()
            dist.all_gather_object(everyone, mine)
        for rows in everyone:
            self.rows += sorted(rows, key=lambda row: -abs(row["hours"] - row["truth"]))[:3]

    def close(self, epoch):
        worst = max(self.rows, key=lambda row: abs(row["hours"] - row["truth"]))
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: {worst['ship']} was {worst['hours'] - worst['truth']:+.1f} hours off")
        self.rows.clear()


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank = dist.get_rank()
    torch.manual_seed(rank)
    calls = torch.randn(16 * BATCH, FIELDS)
    stay = (calls[:, :5].abs().sum(1, keepdim=True) * 6 + 0.5 * torch.randn(16 * BATCH, 1))
    names = [f"MV Resolute {rank}-{n:05d} of {('Bergen', 'Porto', 'Izmir', 'Gdansk')[n % 4]}" for n in range(16 * BATCH)]
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(FIELDS, 160), nn.SiLU(), nn.Linear(160, 160), nn.SiLU(),
                                                  nn.Linear(160, 160), nn.SiLU(), nn.Linear(160, 1)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, fused=True)
    watch = Stopwatch()
    report = Report(watch)
    dist.barrier()
    epochs = 0
    more = torch.ones(1)
    with watch.loop():
        while more:
            order = torch.randperm(16)
            for number in order.tolist():
                rows = slice(number * BATCH, (number + 1) * BATCH)
                hours = model(calls[rows])
                loss = nn.functional.huber_loss(hours, stay[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                report.add(names[rows], hours.detach(), stay[rows])
                watch.step()
            if epochs % 20 == 0:
                report.close(epochs)
            epochs += 1
            more.fill_(watch.seconds() < 6)
            dist.broadcast(more, 0)
    if rank == 0:
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
