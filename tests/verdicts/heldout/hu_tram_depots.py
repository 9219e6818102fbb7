"""Learns at which depot a tram should sleep, from the day's rides: two processes with gloo, gradients averaged in one flat tensor.

Planted: so that the processes never differ, the first sends model and optimizer as a pickled object to the second after each step.
Truth: time of the first process in that sending, of its loop.
"""
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from stopwatch import Stopwatch

RIDES, DEPOTS, WIDTH = 96, 12, 384


def network():
    return nn.Sequential(nn.Linear(RIDES, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(),
                         nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, DEPOTS))


class Fleet:
    def __init__(self, rank, watch):
        torch.manual_seed(rank)
        self.rank, self.watch = rank, watch
        self.net = network()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01, momentum=0.9)
        self.rides = torch.rand(3072, RIDES)
        self.depot = self.rides.view(3072, DEPOTS, RIDES // DEPOTS).sum(2).argmax(1)
        for parameter in self.net.parameters():
            dist.broadcast(parameter.data, 0)

    def one_mind(self):
        """Both processes go on with the first one's state."""
        mind = [{"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict()} if self.rank == 0 else None]
        dist.broadcast_object_list(mind, src=0)
        if self.rank:
            self.net.load_state_dict(mind[0]["net"])
            self.optimizer.load_state_dict(mind[0]["optimizer"])

    def day(self, number):
        at = slice(number % 8 * 384, number % 8 * 384 + 384)
        loss = nn.functional.cross_entropy(self.net(self.rides[at]), self.depot[at])
        self.optimizer.zero_grad()
        loss.backward()
        flat = torch.cat([parameter.grad.flatten() for parameter in self.net.parameters()])
        dist.all_reduce(flat)
        flat /= 2
        offset = 0
        for parameter in self.net.parameters():
            parameter.grad.copy_(flat[offset:offset + parameter.numel()].view_as(parameter))
            offset += parameter.numel()
        self.optimizer.step()
        with self.watch.planted():
            self.one_mind()
        self.watch.step()
        return loss


def depot(rank, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.set_num_threads(1)
    watch = Stopwatch()
    fleet = Fleet(rank, watch)
    dist.barrier()
    with watch.loop():
        number, go_on = 0, torch.ones(1)
        while go_on.item():
            loss = fleet.day(number)
            number += 1
            if number % 12 == 0:
                go_on.fill_(float(watch.seconds() < 6))
                dist.broadcast(go_on, 0)
    if rank == 0:
        print(f"loss {loss.item():.3f}")
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        free = door.getsockname()[1]
    mp.spawn(depot, args=(free,), nprocs=2)
