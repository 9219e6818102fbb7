"""Graph network that predicts a solubility-like property of generated molecules."""
import argparse
import json
import time

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
KINDS, WIDTH = 6, 48
gather_seconds = 0.0


def make_molecule(rng):
    n = int(rng.integers(9, 18))
    kind = rng.integers(0, KINDS, n)
    bonds = [(int(rng.integers(0, v)), v) for v in range(1, n)]
    bonds += [tuple(rng.choice(n, 2, replace=False)) for _ in range(3)]
    src = [a for a, b in bonds] + [b for a, b in bonds]
    dst = [b for a, b in bonds] + [a for a, b in bonds]
    polar = (kind == 2).sum() + 0.5 * sum(kind[a] == 3 and kind[b] == 1 for a, b in zip(src, dst))
    return kind, np.array([src, dst]), float(polar - 0.1 * n)


def batch_up(mols):
    kinds, edges, owner, base = [], [], [], 0
    for g, (kind, edge, _) in enumerate(mols):
        kinds.append(kind)
        edges.append(edge + base)
        owner.append(np.full(len(kind), g))
        base += len(kind)
    y = torch.tensor([m[2] for m in mols])
    return (torch.from_numpy(np.concatenate(kinds)), torch.from_numpy(np.concatenate(edges, 1)),
            torch.from_numpy(np.concatenate(owner)), y)


class Layer(nn.Module):
    def __init__(self, fused):
        super().__init__()
        self.fused = fused
        self.message = nn.Linear(WIDTH, WIDTH)
        self.update = nn.GRUCell(WIDTH, WIDTH)

    def forward(self, h, edge):
        global gather_seconds
        msg = torch.relu(self.message(h))
        start = time.perf_counter()
        if self.fused:
            total = torch.zeros_like(h).index_add(0, edge[1], msg[edge[0]])
        else:
            sums = []
            for v in range(len(h)):
                near = edge[0][edge[1] == v]
                sums.append(msg[near].sum(0))
            total = torch.stack(sums)
        gather_seconds += time.perf_counter() - start
        return self.update(total, h)


class MolNet(nn.Module):
    def __init__(self, fused):
        super().__init__()
        self.embed = nn.Embedding(KINDS, WIDTH)
        self.layers = nn.ModuleList(Layer(fused) for _ in range(2))
        self.out = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))

    def forward(self, kind, edge, owner, graphs):
        h = self.embed(kind)
        for layer in self.layers:
            h = layer(h, edge)
        pooled = h.new_zeros(graphs, WIDTH).index_add(0, owner, h)
        return self.out(pooled / 10).squeeze(1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--epochs", type=int, default=11)
    args = ap.parse_args()
    torch.manual_seed(8)
    rng = np.random.default_rng(12)
    mols = [make_molecule(rng) for _ in range(320)]
    batches = [batch_up(mols[i:i + 20]) for i in range(0, 320, 20)]
    net = MolNet(args.repaired)
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    begin = time.perf_counter()
    for epoch in range(args.epochs):
        err = 0.0
        for b in rng.permutation(len(batches)):
            kind, edge, owner, y = batches[b]
            pred = net(kind, edge, owner, len(y))
            loss = nn.functional.mse_loss(pred, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            err += loss.item()
        print(f"epoch {epoch}  mse {err / len(batches):.4f}")
    total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": round(gather_seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
