"""Trains a matrix-factorisation recommender (BPR loss) on implicit feedback of a
music service and reports the hit rate on held-out plays."""
import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def synthetic_plays(users, items, per_user, groups, gen):
    """Every user belongs to a taste group that prefers a slice of the popular items."""
    active = torch.randperm(users, generator=gen)[: users // 20]
    group = torch.randint(groups, (active.numel(),), generator=gen)
    slice_size = 150
    start = torch.arange(groups) * slice_size
    draw = torch.rand(active.numel(), per_user, generator=gen) ** 2
    liked = start[group].unsqueeze(1) + (draw * slice_size).long()
    noise = torch.rand(active.numel(), per_user, generator=gen) < 0.15
    anything = torch.randint(items, (active.numel(), per_user), generator=gen)
    chosen = torch.where(noise, anything, liked)
    user_col = active.unsqueeze(1).expand_as(chosen)
    return user_col, chosen


class FactorModel(nn.Module):
    def __init__(self, users, items, dim):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.bias = nn.Embedding(items, 1)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(-1) + self.bias(item).squeeze(-1)


def bpr_loss(model, user, good, bad):
    return nn.functional.softplus(model(user, bad) - model(user, good)).mean()


def train_epoch(model, loader, optimizer, items, gen):
    total, seen = 0.0, 0
    for user, good in loader:
        bad = torch.randint(items, good.shape, generator=gen)
        optimizer.zero_grad()
        loss = bpr_loss(model, user, good, bad)
        loss.backward()
        optimizer.step()
        total += loss.item() * user.numel()
        seen += user.numel()
    return total / seen


@torch.no_grad()
def hit_rate(model, users, truth, items, k, gen):
    """Share of users whose held-out item is among the k best of 200 candidates."""
    others = torch.randint(items, (users.numel(), 199), generator=gen)
    candidates = torch.cat([truth.unsqueeze(1), others], dim=1)
    scores = model(users.unsqueeze(1), candidates)
    rank = (scores[:, 1:] > scores[:, :1]).sum(1)
    return (rank < k).float().mean().item()


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--users", type=int, default=80_000)
    p.add_argument("--items", type=int, default=40_000)
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--plays", type=int, default=21)
    p.add_argument("--groups", type=int, default=40)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=1024)
    p.add_argument("--lr", type=float, default=120.0)
    p.add_argument("--seed", type=int, default=5)
    return p.parse_args()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    users, plays = synthetic_plays(args.users, args.items, args.plays, args.groups, gen)
    held_users, held_items = users[:, 0], plays[:, -1]
    train = TensorDataset(users[:, :-1].reshape(-1), plays[:, :-1].reshape(-1))
    sampler = torch.utils.data.BatchSampler(
        torch.utils.data.RandomSampler(train, generator=gen), args.batch, drop_last=False
    )
    loader = DataLoader(train, sampler=sampler, batch_size=None)

    model = FactorModel(args.users, args.items, args.dim)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.3, total_iters=args.epochs)
    started = time.perf_counter()
    for epoch in range(args.epochs):
        loss = train_epoch(model, loader, optimizer, args.items, gen)
        schedule.step()
        print(f"epoch {epoch + 1} loss {loss:.4f}")
    eval_gen = torch.Generator().manual_seed(args.seed + 1)
    rate = hit_rate(model, held_users, held_items, args.items, 10, eval_gen)
    print(f"plays {len(train)} hit@10 {rate:.4f}")
    print(f"trained in {time.perf_counter() - started:.1f} s", file=__import__("sys").stderr)


if __name__ == "__main__":
    main()
