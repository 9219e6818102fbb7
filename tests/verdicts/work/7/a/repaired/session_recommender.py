"""Trains a next-item model for a shop from click sessions and reports hit rate.

The model averages the embeddings of the last clicks and scores the next item
against sampled negatives; item embeddings are learned with Adagrad, as their
frequencies differ by orders of magnitude.
"""
import argparse
import math

import torch
from torch import nn
from torch.nn import functional as F


class SessionData:
    """Synthetic click log: users stay in a category and drift to its neighbours."""

    def __init__(self, n_items, n_sessions, length, seed):
        g = torch.Generator().manual_seed(seed)
        self.n_items = n_items
        self.n_categories = 600
        self.per_category = n_items // self.n_categories
        start = torch.randint(self.n_categories, (n_sessions, 1), generator=g)
        drift = torch.randint(-1, 2, (n_sessions, length), generator=g).cumsum(1) // 3
        category = (start + drift) % self.n_categories
        # popular items have low ranks inside of their category
        rank = (torch.rand(n_sessions, length, generator=g) ** 3 * self.per_category).long()
        self.clicks = category * self.per_category + rank

    def batches(self, size, seed):
        g = torch.Generator().manual_seed(seed)
        order = torch.randperm(len(self.clicks), generator=g)
        for chunk in order.split(size):
            if len(chunk) == size:
                clicks = self.clicks[chunk]
                yield clicks[:, :-1], clicks[:, -1]


class SessionModel(nn.Module):
    def __init__(self, n_items, dim, window):
        super().__init__()
        self.items = nn.Embedding(n_items, dim, sparse=True)
        self.targets = nn.Embedding(n_items, dim, sparse=True)
        nn.init.normal_(self.items.weight, std=0.05)
        nn.init.normal_(self.targets.weight, std=0.05)
        self.query = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        decay = torch.exp(-0.3 * torch.arange(window - 1, -1, -1.0))
        self.register_buffer("decay", (decay / decay.sum()).view(1, window, 1))

    def encode(self, history):
        h = (self.items(history) * self.decay).sum(1)
        return h + self.query(h)

    def forward(self, history, candidates):
        return torch.einsum("bd,bcd->bc", self.encode(history), self.targets(candidates))


class Trainer:
    def __init__(self, model, lr, n_negatives, seed):
        self.model = model
        self.n_negatives = n_negatives
        self.rng = torch.Generator().manual_seed(seed)
        tables = [model.items.weight, model.targets.weight]
        self.optimizers = [
            torch.optim.Adagrad(tables, lr=lr, initial_accumulator_value=0.01),
            torch.optim.Adam(model.query.parameters(), lr=1e-3),
        ]

    def step(self, history, target):
        negatives = torch.randint(self.model.items.num_embeddings, (len(target), self.n_negatives), generator=self.rng)
        candidates = torch.cat([target.unsqueeze(1), negatives], dim=1)
        logits = self.model(history, candidates)
        loss = F.cross_entropy(logits, torch.zeros_like(target))
        for opt in self.optimizers:
            opt.zero_grad(set_to_none=True)
        loss.backward()
        for opt in self.optimizers:
            opt.step()
        return loss.detach()


@torch.inference_mode()
def hit_rate(model, data, k, n_batches, batch_size, seed):
    """Share of sessions whose next item is among the k best of 500 sampled ones."""
    g = torch.Generator().manual_seed(seed)
    hits = total = 0
    for i, (history, target) in enumerate(data.batches(batch_size, seed)):
        if i == n_batches:
            break
        others = torch.randint(data.n_items, (len(target), 499), generator=g)
        scores = model(history, torch.cat([target.unsqueeze(1), others], dim=1))
        rank = (scores[:, 1:] > scores[:, :1]).sum(1)
        hits += int((rank < k).sum())
        total += len(target)
    return hits / total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=90_000)
    parser.add_argument("--dim", type=int, default=48)
    parser.add_argument("--steps", type=int, default=110)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--window", type=int, default=9)
    args = parser.parse_args()

    torch.manual_seed(0)
    train = SessionData(args.items, 60_000, args.window + 1, seed=1)
    valid = SessionData(args.items, 4_000, args.window + 1, seed=2)
    model = SessionModel(args.items, args.dim, args.window)
    trainer = Trainer(model, lr=0.15, n_negatives=60, seed=3)

    step, epoch, losses = 0, 0, []
    while step < args.steps:
        for history, target in train.batches(args.batch_size, seed=100 + epoch):
            losses.append(trainer.step(history, target))
            step += 1
            if step == args.steps:
                break
        epoch += 1
    loss = torch.stack(losses[-50:]).mean().item()
    rate = hit_rate(model, valid, 10, 6, args.batch_size, seed=9)
    print(f"steps {step}  loss {loss:.3f}  (chance {math.log(61):.3f})  hit@10 {rate:.3f}")


if __name__ == "__main__":
    main()
