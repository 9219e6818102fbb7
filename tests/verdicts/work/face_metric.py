"""Metric learning on generated face descriptors: batch-hard triplets, recall@1."""
import argparse
import gc
import json
import random
import time

import torch
from torch import nn

torch.set_num_threads(1)
PEOPLE, SHOTS, DIM = 120, 10, 96


def make_gallery(gen):
    """Records as the annotation export gives them: one dict for each photo."""
    rnd = random.Random(4)
    centre = torch.randn(PEOPLE, 24, generator=gen)
    mix = torch.randn(24, DIM, generator=gen) / 5
    records, vectors = [], []
    for person in range(PEOPLE):
        for shot in range(SHOTS):
            v = (centre[person] + 0.9 * torch.randn(24, generator=gen)) @ mix
            vectors.append(torch.tanh(v) + 0.15 * torch.randn(DIM, generator=gen))
            records.append({
                "person": person, "file": f"p{person:03d}/{shot:02d}.jpg",
                "box": [rnd.randrange(200) for _ in range(4)],
                "landmarks": [[rnd.random(), rnd.random()] for _ in range(68)],
            })
    return records, torch.stack(vectors)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM, 384), nn.BatchNorm1d(384), nn.ReLU(),
                                 nn.Linear(384, 384), nn.BatchNorm1d(384), nn.ReLU(),
                                 nn.Linear(384, 64))

    def forward(self, x):
        return nn.functional.normalize(self.net(x), dim=1)


def batch_hard(z, who, margin=0.25):
    dist = 1 - z @ z.T
    same = who[:, None] == who[None]
    far = dist.masked_fill(~same, -1).max(1).values
    near = dist.masked_fill(same, 9).min(1).values
    return torch.relu(far - near + margin).mean()


@torch.no_grad()
def recall_at_1(net, x, who):
    net.eval()
    z = net(x)
    sim = z @ z.T
    sim.fill_diagonal_(-2)
    net.train()
    return (who[sim.argmax(1)] == who).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--steps", type=int, default=280)
    args = ap.parse_args()
    torch.manual_seed(9)
    records, x = make_gallery(torch.Generator().manual_seed(13))
    who = torch.tensor([r["person"] for r in records])
    rows = torch.arange(len(records)).view(PEOPLE, SHOTS)
    net = Embedder()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    tidy_seconds, running = 0.0, 0.0
    begin = time.perf_counter()
    for step in range(args.steps):
        people = torch.randperm(PEOPLE)[:32]
        shots = torch.rand(32, SHOTS).argsort(1)[:, :5]
        pick = rows[people].gather(1, shots).flatten()
        loss = batch_hard(net(x[pick]), who[pick])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        running += loss.item()
        if step % 20 == 0 and not args.repaired:
            start = time.perf_counter()
            del loss
            gc.collect()          # keep the memory of the shared box flat
            tidy_seconds += time.perf_counter() - start
        if step % 70 == 69:
            print(f"step {step + 1}  loss {running / 70:.4f}  recall@1 {recall_at_1(net, x, who):.3f}")
            running = 0.0
    total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": round(tidy_seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
