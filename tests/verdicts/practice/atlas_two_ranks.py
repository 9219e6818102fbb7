"""Two ranks learn to place old maps, and both keep the list of the hardest ones.

Planted: after each step, all ranks exchange a dictionary for each of their samples with all_gather_object().
Truth: the first rank's time in this exchange, as a share of the loop.
"""
import heapq

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from stopwatch import Stopwatch

BATCH, FEATURES, PLACES, KEPT = 192, 256, 80, 50


class HardestMaps:
    """The maps with the largest loss, of all ranks."""

    def __init__(self):
        self.heap = []

    def exchange(self, numbers, hidden, losses):
        mine = [{"map": number, "loss": loss, "hidden": vector, "rank": dist.get_rank()}
                for number, loss, vector in zip(numbers.tolist(), losses.tolist(), hidden.tolist())]
        everyones = [None] * dist.get_world_size()
        dist.all_gather_object(everyones, mine)
        for record in (record for part in everyones for record in part):
            entry = (record["loss"], record["map"])
            if len(self.heap) < KEPT:
                heapq.heappush(self.heap, entry)
            elif entry > self.heap[0]:
                heapq.heapreplace(self.heap, entry)


class Placer(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(FEATURES, 384), nn.GELU(), nn.Linear(384, 384), nn.GELU(), nn.Linear(384, 128))
        self.head = nn.Linear(128, PLACES)

    def forward(self, maps):
        hidden = self.body(maps)
        return self.head(hidden), hidden


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(6)
    watch = Stopwatch()
    maps = torch.randn(6000, FEATURES, generator=torch.Generator().manual_seed(rank))
    places = torch.randint(0, PLACES, (6000,))
    model = DistributedDataParallel(Placer())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    hardest, step, over = HardestMaps(), 0, torch.zeros(1)
    with watch.loop():
        while not over:
            numbers = torch.randint(0, len(maps), (BATCH,))
            scores, hidden = model(maps[numbers])
            losses = nn.functional.cross_entropy(scores, places[numbers], reduction="none")
            optimizer.zero_grad()
            losses.mean().backward()
            optimizer.step()
            with watch.planted():
                hardest.exchange(numbers, hidden.detach(), losses.detach())
            step += 1
            watch.step()
            if step % 25 == 0:
                over.fill_(watch.seconds() > 7)
                dist.broadcast(over, src=0)
    if rank == 0:
        print(f"{step} steps, the hardest map has {max(hardest.heap)[0]:.2f}")
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
