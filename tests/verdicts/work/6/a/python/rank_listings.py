"""Two-tower ranking model for the marketplace: learns from clicks with sampled
negatives, with one embedding table of listings and one of shoppers, and prints
recall@20 on each shopper's last click."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SHOPPERS, LISTINGS, DIM = 20_000, 60_000, 32
CLICKS, BATCH, NEGATIVES = 140_000, 1024, 4


def make_clicks(seed):
    """Shoppers have a taste (a niche of listings) and popular listings win."""
    rng = np.random.default_rng(seed)
    niches = 400
    taste = rng.integers(0, niches, SHOPPERS)
    shopper = rng.integers(0, SHOPPERS, CLICKS)
    per = LISTINGS // niches
    rank = np.minimum(rng.zipf(1.6, CLICKS) - 1, per - 1)
    own = rng.random(CLICKS) < 0.85
    niche = np.where(own, taste[shopper], rng.integers(0, niches, CLICKS))
    listing = niche * per + rank
    price = np.log1p(rng.gamma(2.0, 40.0, LISTINGS)).astype(np.float32)
    age = rng.random(LISTINGS).astype(np.float32)
    features = np.stack([price, age, price * age], 1)
    return torch.from_numpy(shopper), torch.from_numpy(listing), torch.from_numpy(features)


class Ranker(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.shoppers = nn.Embedding(SHOPPERS, DIM)
        self.listings = nn.Embedding(LISTINGS, DIM)
        nn.init.normal_(self.shoppers.weight, std=0.1)
        nn.init.normal_(self.listings.weight, std=0.1)
        self.register_buffer("features", features)
        self.side = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, DIM))
        self.tower = nn.Sequential(nn.Linear(DIM, 64), nn.ReLU(), nn.Linear(64, DIM))

    def shopper(self, ids):
        e = self.shoppers(ids)
        return e + self.tower(e)

    def listing(self, ids):
        return self.listings(ids) + self.side(self.features[ids])

    def forward(self, shopper, listings):
        return torch.einsum("bd,bkd->bk", self.shopper(shopper), self.listing(listings))


def optimizers(model):
    tables = [model.shoppers.weight, model.listings.weight]
    dense = [*model.side.parameters(), *model.tower.parameters()]
    return [torch.optim.Adagrad(tables, lr=0.15), torch.optim.Adam(dense, lr=2e-3)]


def train_epoch(model, opts, loader, popularity, gen):
    total = torch.zeros(())
    for shopper, listing in loader:
        picks = torch.randint(len(popularity), (len(shopper), NEGATIVES), generator=gen)
        candidates = torch.cat([listing[:, None], popularity[picks]], 1)
        logits = model(shopper, candidates)
        loss = F.cross_entropy(logits, torch.zeros(len(shopper), dtype=torch.long))
        for o in opts:
            o.zero_grad()
        loss.backward()
        for o in opts:
            o.step()
        total += loss.detach()
    return float(total) / len(loader)


@torch.inference_mode()
def recall_at(model, shopper, listing, k, chunk=256):
    everything = model.listing(torch.arange(LISTINGS))
    hits = 0
    for i in range(0, len(shopper), chunk):
        scores = model.shopper(shopper[i:i + chunk]) @ everything.T
        top = scores.topk(k, dim=1).indices
        hits += int((top == listing[i:i + chunk, None]).sum())
    return hits / len(shopper)


def split_last(shopper, listing, held):
    """The last click of some shoppers is kept for the evaluation."""
    last = torch.full((SHOPPERS,), -1, dtype=torch.long)
    last[shopper] = torch.arange(len(shopper))
    ids = last[last >= 0][:held]
    keep = torch.ones(len(shopper), dtype=torch.bool)
    keep[ids] = False
    return keep, ids


def main():
    torch.manual_seed(17)
    shopper, listing, features = make_clicks(4)
    keep, held = split_last(shopper, listing, 1024)
    loader = DataLoader(TensorDataset(torch.stack([shopper[keep], listing[keep]], 1)), batch_size=None,
                        sampler=BatchRows(int(keep.sum()), BATCH, 8))
    model = Ranker(features)
    opts = optimizers(model)
    gen = torch.Generator().manual_seed(23)
    popularity = listing[keep]
    for epoch in range(2):
        pairs = ((rows[:, 0], rows[:, 1]) for (rows,) in loader)
        loss = train_epoch(model, opts, Sized(pairs, len(loader)), popularity, gen)
        print(f"epoch {epoch} loss {loss:.4f}", flush=True)
    print(f"recall@20 {recall_at(model, shopper[held], listing[held], 20):.2f}")


class BatchRows(torch.utils.data.Sampler):
    """Yields index tensors, so that a batch is one gather."""

    def __init__(self, rows, batch, seed):
        self.rows, self.batch = rows, batch
        self.gen = torch.Generator().manual_seed(seed)

    def __len__(self):
        return self.rows // self.batch

    def __iter__(self):
        order = torch.randperm(self.rows, generator=self.gen)
        yield from order[:len(self) * self.batch].split(self.batch)


class Sized:
    def __init__(self, it, n):
        self.it, self.n = it, n

    def __len__(self):
        return self.n

    def __iter__(self):
        return iter(self.it)


if __name__ == "__main__":
    main()
