"""Trains the implicit-feedback recommender that feeds the "you may also like" shelf.

Users and items are factorised with a small interaction network on top of the
embeddings.  The nightly job trains on the sampled events and reports the hit
rate on the held-out last interaction of each test user.
"""
import argparse

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Events:
    """Synthetic interaction log with cluster structure, as exported by the shop."""

    def __init__(self, users, items, events, clusters=40, seed=5):
        g = torch.Generator().manual_seed(seed)
        self.users, self.items = users, items
        self.user_cluster = torch.randint(clusters, (users,), generator=g)
        per_cluster = items // clusters
        self.user = torch.randint(users, (events,), generator=g)
        rank = torch.rand(events, generator=g).pow(3.0).mul(per_cluster).long()
        taste = self.user_cluster[self.user]
        stray = torch.rand(events, generator=g) < 0.1
        taste = torch.where(stray, torch.randint(clusters, (events,), generator=g), taste)
        self.item = taste * per_cluster + rank


class TripletDataset(Dataset):
    """Batches of (user, clicked item, negatives); index is the batch number."""

    def __init__(self, events, batch, negatives, seed):
        self.events, self.batch, self.negatives, self.seed = events, batch, negatives, seed
        g = torch.Generator().manual_seed(seed)
        self.order = torch.randperm(len(events.user), generator=g)

    def __len__(self):
        return len(self.order) // self.batch

    def __getitem__(self, i):
        rows = self.order[i * self.batch:(i + 1) * self.batch]
        g = torch.Generator().manual_seed(self.seed * 100003 + i)
        negative = torch.randint(self.events.items, (self.batch, self.negatives), generator=g)
        return self.events.user[rows], self.events.item[rows], negative


class Recommender(nn.Module):
    def __init__(self, users, items, dim):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.mix = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        nn.init.normal_(self.user.weight, std=0.05)
        nn.init.normal_(self.item.weight, std=0.05)

    def query(self, user):
        e = self.user(user)
        return e + self.mix(e)

    def forward(self, user, item):
        q = self.query(user)
        if item.dim() == 1:
            return (q * self.item(item)).sum(-1)
        return torch.einsum("bd,bnd->bn", q, self.item(item))


def bpr_loss(model, user, positive, negative):
    good = model(user, positive).unsqueeze(1)
    bad = model(user, negative)
    return -F.logsigmoid(good - bad).mean()


def make_optimizers(model, lr):
    tables = [model.user.weight, model.item.weight]
    return [
        torch.optim.Adagrad(tables, lr=lr),
        torch.optim.AdamW(model.mix.parameters(), lr=1e-3, weight_decay=1e-4),
    ]


def train(model, events, args):
    optimizers = make_optimizers(model, args.lr)
    for epoch in range(args.epochs):
        data = TripletDataset(events, args.batch, args.negatives, seed=epoch + 1)
        loader = DataLoader(data, batch_size=None, shuffle=False)
        total, count = 0.0, 0
        for user, positive, negative in loader:
            loss = bpr_loss(model, user, positive, negative)
            for opt in optimizers:
                opt.zero_grad()
            loss.backward()
            for opt in optimizers:
                opt.step()
            total += loss.detach()
            count += 1
        print(f"epoch {epoch}: loss {float(total) / count:.3f} over {count} batches")


@torch.inference_mode()
def hit_rate(model, events, n, candidates, k, seed=99):
    """Share of test users whose held-out item ranks in the top k of the candidates."""
    g = torch.Generator().manual_seed(seed)
    rows = torch.randperm(len(events.user), generator=g)[:n]
    hits = 0
    for chunk in rows.split(256):
        user, item = events.user[chunk], events.item[chunk]
        other = torch.randint(events.items, (len(chunk), candidates), generator=g)
        scores = model(user, torch.cat([item[:, None], other], dim=1))
        rank = (scores[:, 1:] > scores[:, :1]).sum(1)
        hits += int((rank < k).sum())
    return hits / n


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=60000)
    parser.add_argument("--items", type=int, default=20000)
    parser.add_argument("--dim", type=int, default=48)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--negatives", type=int, default=8)
    parser.add_argument("--events", type=int, default=100000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()

    torch.manual_seed(17)
    events = Events(args.users, args.items, args.events)
    model = Recommender(args.users, args.items, args.dim)
    train(model, events, args)
    rate = hit_rate(model, events, n=4000, candidates=100, k=10)
    print(f"hit rate@10: {rate:.2f}")


if __name__ == "__main__":
    main()
