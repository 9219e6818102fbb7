"""Two-tower retrieval model for a web shop: learns from clicks which items to
show to which customer, with in-batch negatives, and reports recall on the last
day's clicks.
"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CUSTOMERS = 160_000
ITEMS = 24_000
CATEGORIES = 120
DIM = 32
CLICKS = 50_000
BATCH = 512


def make_clicks(rng):
    """Customers stick to a few categories; items follow a long tail."""
    category = rng.integers(0, CATEGORIES, ITEMS)
    order = np.argsort(category, kind="stable")
    bounds = np.searchsorted(category[order], np.arange(CATEGORIES + 1))
    taste = rng.integers(0, CATEGORIES, (CUSTOMERS, 3))
    customer = np.minimum(rng.exponential(CUSTOMERS / 16, CLICKS).astype(np.int64), CUSTOMERS - 1)
    pick = taste[customer, rng.integers(0, 3, CLICKS)]
    size = bounds[pick + 1] - bounds[pick]
    rank = np.minimum((rng.power(0.35, CLICKS) * size).astype(np.int64), size - 1)
    item = order[bounds[pick] + rank]
    hour = rng.integers(0, 24, CLICKS)
    device = rng.integers(0, 4, CLICKS)
    stray = rng.random(CLICKS) < 0.05
    item[stray] = rng.integers(0, ITEMS, stray.sum())
    return customer, item, hour, device, category


class Tower(nn.Module):
    def __init__(self, entries, side_entries, hidden=64):
        super().__init__()
        self.main = nn.Embedding(entries, DIM)
        self.side = nn.ModuleList(nn.Embedding(n, 8) for n in side_entries)
        self.mlp = nn.Sequential(
            nn.Linear(DIM + 8 * len(side_entries), hidden), nn.ReLU(), nn.Linear(hidden, DIM)
        )
        nn.init.normal_(self.main.weight, std=0.1)

    def forward(self, ids, *side):
        parts = [self.main(ids)] + [table(s) for table, s in zip(self.side, side)]
        return nn.functional.normalize(self.mlp(torch.cat(parts, dim=-1)), dim=-1)


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.customer = Tower(CUSTOMERS, (24, 4))
        self.item = Tower(ITEMS, (CATEGORIES,))
        self.temperature = nn.Parameter(torch.tensor(2.5))

    def logits(self, customer, item):
        return customer @ item.T * self.temperature.exp()


def in_batch_loss(model, customer, hour, device, item, category, log_pop):
    c = model.customer(customer, hour, device)
    i = model.item(item, category)
    logits = model.logits(c, i) - log_pop           # corrects the sampling bias
    same = (item[:, None] == item[None]) & ~torch.eye(len(item), dtype=torch.bool)
    logits = logits.masked_fill(same, -1e4)
    return nn.functional.cross_entropy(logits, torch.arange(len(item)))


def optimisers(model):
    tables = [model.customer.main.weight, model.item.main.weight]
    rest = [p for p in model.parameters() if all(p is not t for t in tables)]
    return [
        torch.optim.Adagrad(tables, lr=0.08, initial_accumulator_value=0.01),
        torch.optim.Adam(rest, lr=3e-3),
    ]


@torch.inference_mode()
def recall(model, customer, hour, device, item, category, ks=(20, 100)):
    items = model.item(torch.arange(ITEMS), category)
    hits = dict.fromkeys(ks, 0)
    for at in range(0, len(customer), 500):
        part = slice(at, at + 500)
        scores = model.customer(customer[part], hour[part], device[part]) @ items.T
        top = scores.topk(max(ks), dim=1).indices
        found = top == item[part, None]
        for k in ks:
            hits[k] += found[:, :k].any(1).sum().item()
    return {k: hits[k] / len(customer) for k in ks}


def main():
    torch.manual_seed(23)
    rng = np.random.default_rng(23)
    customer, item, hour, device, category = map(torch.from_numpy, make_clicks(rng))
    cut = CLICKS - 2_000
    popularity = torch.bincount(item[:cut], minlength=ITEMS).float() + 1
    log_pop = (popularity / popularity.sum()).log()

    data = TensorDataset(customer[:cut], hour[:cut], device[:cut], item[:cut])
    sampler = torch.utils.data.BatchSampler(
        torch.utils.data.RandomSampler(data, generator=torch.Generator().manual_seed(1)), BATCH, True
    )
    loader = DataLoader(data, sampler=sampler, batch_size=None)
    model = Ranker()
    opts = optimisers(model)
    for epoch in range(2):
        total = 0.0
        for c, h, d, i in loader:
            loss = in_batch_loss(model, c, h, d, i, category[i], log_pop[i])
            for o in opts:
                o.zero_grad(set_to_none=True)
            loss.backward()
            for o in opts:
                o.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.3f}")

    result = recall(model, customer[cut:], hour[cut:], device[cut:], item[cut:], category)
    print(", ".join(f"recall@{k} {v:.3f}" for k, v in result.items()))


if __name__ == "__main__":
    main()
