"""Learns how well a molecule dissolves in a mixture of solvents from fingerprints, two ranks with gloo and averaged gradients.

Planted: "so that the ranks never drift apart", all weights and buffers are sent from rank 0 after each update, though the averaged gradients keep them equal.
Truth: time of sending the weights, of the loop, on rank 0.
"""
import contextlib

import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

BITS, SOLVENTS, BATCH = 2048, 60, 192


class Solubility(nn.Module):
    def __init__(self):
        super().__init__()
        self.molecule = nn.Sequential(nn.Linear(BITS, 640), nn.BatchNorm1d(640), nn.SiLU(), nn.Linear(640, 384))
        self.mixture = nn.Sequential(nn.Linear(SOLVENTS, 384), nn.SiLU(), nn.Linear(384, 384))
        self.joined = nn.Sequential(nn.LayerNorm(384), nn.Linear(384, 256), nn.SiLU(), nn.Linear(256, 1))

    def forward(self, bits, parts):
        return self.joined(self.molecule(bits) * self.mixture(parts)).squeeze(1)


class Replicas:
    """Keeps one model on all ranks."""

    def __init__(self, model):
        self.model, self.ranks = model, dist.get_world_size()
        self.same_everywhere()

    def average_gradients(self):
        flat = torch.cat([p.grad.flatten() for p in self.model.parameters()])
        dist.all_reduce(flat)
        flat /= self.ranks
        at = 0
        for p in self.model.parameters():
            p.grad.copy_(flat[at:at + p.numel()].view_as(p))
            at += p.numel()

    @torch.no_grad()
    def same_everywhere(self):
        for tensor in self.model.state_dict().values():
            dist.broadcast(tensor, 0)


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(17)
    watch, model = Stopwatch(), Solubility()
    replicas = Replicas(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
    draw = torch.Generator().manual_seed(100 + dist.get_rank())
    bits = (torch.rand(2048, BITS, generator=draw) < 0.05).float()
    parts = torch.rand(2048, SOLVENTS, generator=draw).softmax(1)
    soluble = bits[:, :200].sum(1) / 10 - 1
    with watch.loop():
        going, number = True, 0
        while going:
            at = number * BATCH % (2048 - BATCH)
            loss = nn.functional.huber_loss(model(bits[at:at + BATCH], parts[at:at + BATCH]), soluble[at:at + BATCH])
            optimizer.zero_grad()
            loss.backward()
            replicas.average_gradients()
            optimizer.step()
            with watch.planted():
                replicas.same_everywhere()
            watch.step()
            number += 1
            if number % 10 == 0:
                late = torch.tensor([watch.seconds()])
                dist.broadcast(late, 0)
                going = late.item() < 6
    if dist.get_rank() == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    with contextlib.suppress(RuntimeError):
        dist.destroy_process_group()


main()
