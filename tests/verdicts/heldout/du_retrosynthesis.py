"""Ranks the bonds by which a molecule could be taken apart: attention between atoms, compiled by torch.compile. Inference, molecules by their size.

Planted: dynamic=False, so each number of atoms that was not seen yet has the model traced and guarded once more.
Truth: time of the calls that see a number of atoms first, less the usual time of a call, as a share of the loop.
"""
import statistics
import time

import torch
import torch._dynamo
from torch import nn

from stopwatch import Stopwatch

try:
    from dwell import step as mark_step
except ImportError:  # not run under dwell
    def mark_step():
        pass

WIDTH, HEADS, LAYERS, ELEMENTS = 96, 4, 2, 12
BATCH, ALIKE = 32, 30
watch = Stopwatch()
torch._dynamo.config.recompile_limit = 400
torch._dynamo.config.accumulated_recompile_limit = 400


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mix = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, bias):
        molecules, atoms, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).view(molecules, atoms, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        weight = (q @ k.transpose(-1, -2) / 5 + bias[:, None]).softmax(-1)
        x = x + self.out((weight @ v).transpose(1, 2).reshape(molecules, atoms, WIDTH))
        return x + self.mix(self.norm2(x))


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.element = nn.Embedding(ELEMENTS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.bond = nn.Linear(WIDTH, WIDTH)

    def forward(self, atoms, bonds):
        x = self.element(atoms)
        for block in self.blocks:
            x = block(x, bonds)
        return (x @ self.bond(x).transpose(1, 2)).masked_fill(bonds == 0, -1e9)


def molecules(size):
    atoms = torch.randint(0, ELEMENTS, (BATCH, size))
    bonds = (torch.rand(BATCH, size, size) < 3 / size).float()
    return atoms, bonds


@torch.no_grad()
def main():
    torch.manual_seed(21)
    torch.set_num_threads(1)
    ranker = torch.compile(Ranker().eval(), backend="eager", dynamic=False)
    ranker(*molecules(20))
    seen, first, usual = {20}, [], []
    sizes = (40 + torch.randperm(28)).repeat_interleave(ALIKE).tolist()
    with watch.loop():
        for size in watch.limited(sizes, 6.5):
            atoms, bonds = molecules(size)
            began = time.perf_counter()
            best = ranker(atoms, bonds).flatten(1).argmax(1)
            (usual if size in seen else first).append(time.perf_counter() - began)
            seen.add(size)
            watch.step()
            mark_step()
    print("a bond:", divmod(best[0].item(), size), "sizes:", len(seen))
    watch.tell((sum(first) - len(first) * statistics.mean(usual)) / (watch.ended - watch.began))


main()
