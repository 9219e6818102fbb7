"""Trains a two-tower retrieval model with in-batch negatives on click logs."""
import torch
from torch import nn
from torch.nn import functional as F

USERS = 300_000
ITEMS = 60_000
DIM = 64
BATCH = 256
STEPS = 120


def click_log(n, seed):
    """Users and items share latent interests; popularity is skewed."""
    g = torch.Generator().manual_seed(seed)
    users = torch.randint(0, USERS, (n,), generator=g)
    interest = users % 50
    popular = (torch.rand(n, generator=g) ** 3 * (ITEMS // 50)).long()
    items = popular * 50 + interest
    noise = torch.rand(n, generator=g) < 0.1
    items[noise] = torch.randint(0, ITEMS, (int(noise.sum()),), generator=g)
    hour = torch.randint(0, 24, (n,), generator=g)
    return users, items, hour


class UserTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.ids = nn.Embedding(USERS, DIM, sparse=True)
        self.hour = nn.Embedding(24, 8)
        self.mlp = nn.Sequential(nn.Linear(DIM + 8, 96), nn.ReLU(), nn.Linear(96, DIM))

    def forward(self, user, hour):
        x = self.ids(user)
        return F.normalize(x + self.mlp(torch.cat([x, self.hour(hour)], 1)), dim=1)


class ItemTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.ids = nn.Embedding(ITEMS, DIM, sparse=True)
        self.mlp = nn.Sequential(nn.Linear(DIM, 96), nn.ReLU(), nn.Linear(96, DIM))

    def forward(self, item):
        x = self.ids(item)
        return F.normalize(x + self.mlp(x), dim=1)


class Retrieval(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = UserTower()
        self.item = ItemTower()
        self.log_scale = nn.Parameter(torch.tensor(2.5))
        for table in (self.user.ids, self.item.ids):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, user, item, hour):
        return self.log_scale.exp() * self.user(user, hour) @ self.item(item).T


class LogQCorrection:
    """Subtracts the log of the sampling probability of in-batch negatives."""

    def __init__(self, items):
        counts = torch.bincount(items, minlength=ITEMS).float() + 1
        self.log_q = torch.log(counts / counts.sum())

    def __call__(self, logits, item):
        return logits - self.log_q[item]


def loss_for(model, correction, user, item, hour):
    logits = correction(model(user, item, hour), item)
    same = item.unsqueeze(0) == item.unsqueeze(1)
    same.fill_diagonal_(False)
    logits = logits.masked_fill(same, -1e4)
    return F.cross_entropy(logits, torch.arange(len(item)))


def make_optimizers(model):
    tables = [model.user.ids.weight, model.item.ids.weight]
    known = {id(p) for p in tables}
    dense = [p for p in model.parameters() if id(p) not in known]
    return [torch.optim.SGD(tables, lr=2.0), torch.optim.Adam(dense, lr=2e-3)]


@torch.no_grad()
def hit_rate(model, users, items, hour, top=100):
    candidates = model.item(torch.arange(ITEMS))
    hits = 0
    for u, i, h in zip(users.split(256), items.split(256), hour.split(256)):
        scores = model.user(u, h) @ candidates.T
        hits += (scores.topk(top, dim=1).indices == i.unsqueeze(1)).any(1).sum().item()
    return hits / len(users)


def main():
    torch.manual_seed(0)
    users, items, hour = click_log(BATCH * STEPS, 1)
    model = Retrieval()
    correction = LogQCorrection(items)
    optimizers = make_optimizers(model)
    running = 0.0
    for step in range(STEPS):
        part = slice(step * BATCH, (step + 1) * BATCH)
        loss = loss_for(model, correction, users[part], items[part], hour[part])
        for opt in optimizers:
            opt.zero_grad()
        loss.backward()
        for opt in optimizers:
            opt.step()
        running += loss.item()
        if (step + 1) % 60 == 0:
            print(f"step {step + 1}: loss {running / 60:.2f}")
            running = 0.0
    test = click_log(1024, 2)
    print(f"hit rate at 100: {hit_rate(model, *test):.2f}")


if __name__ == "__main__":
    main()
