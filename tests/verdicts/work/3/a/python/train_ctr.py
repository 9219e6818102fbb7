"""Click model trained on exported impression events (JSON lines)."""
import json
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

DEVICES = ["ios", "android", "web", "tv"]
SLOTS = ["top", "side", "feed", "footer", "search"]
HISTORY = 60


def export_events(count, seed):
    rng = random.Random(seed)
    lines = []
    for i in range(count):
        device, slot = rng.choice(DEVICES), rng.choice(SLOTS)
        age, price = rng.randint(16, 80), round(rng.uniform(1, 200), 2)
        liking = 0.03 * (40 - age) + (0.8 if slot == "top" else -0.2) + rng.gauss(0, 0.7)
        lines.append(json.dumps({
            "id": i,
            "user": {"age": age, "device": device, "country": rng.randint(0, 30),
                     "recent": [{"item": int(rng.random() * 999) + 1, "dwell": round(rng.random() * 30, 2),
                                 "source": rng.choice(SLOTS)} for _ in range(HISTORY)]},
            "ad": {"slot": slot, "price": price, "campaign": rng.randint(0, 199)},
            "clicked": liking > 0,
        }))
    return lines


class Impressions(Dataset):
    def __init__(self, lines):
        self.records = lines

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        return featurize(self.records[index])


def featurize(line):
    event = json.loads(line)
    user, ad = event["user"], event["ad"]
    recent = user["recent"]
    dwell = [r["dwell"] for r in recent]
    dense = torch.tensor([
        user["age"] / 80.0,
        ad["price"] / 200.0,
        sum(dwell) / len(dwell) / 30.0,
        max(dwell) / 30.0,
    ])
    sparse = torch.tensor([DEVICES.index(user["device"]), SLOTS.index(ad["slot"]), user["country"], ad["campaign"]])
    items = torch.tensor([r["item"] for r in recent])
    return dense, sparse, items, torch.tensor(float(event["clicked"]))


class ClickModel(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.device = nn.Embedding(len(DEVICES), dim)
        self.slot = nn.Embedding(len(SLOTS), dim)
        self.country = nn.Embedding(32, dim)
        self.campaign = nn.Embedding(200, dim)
        self.item = nn.EmbeddingBag(1000, dim, mode="mean")
        self.head = nn.Sequential(nn.Linear(5 * dim + 4, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, dense, sparse, items):
        parts = [self.device(sparse[:, 0]), self.slot(sparse[:, 1]), self.country(sparse[:, 2]),
                 self.campaign(sparse[:, 3]), self.item(items), dense]
        return self.head(torch.cat(parts, dim=1)).squeeze(1)


def train_epoch(model, loader, optimizer, loss_fn):
    model.train()
    total, seen = 0.0, 0
    for dense, sparse, items, clicked in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(dense, sparse, items), clicked)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(clicked)
        seen += len(clicked)
    return total / seen


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = seen = 0
    for dense, sparse, items, clicked in loader:
        guess = (model(dense, sparse, items) > 0).float()
        right += (guess == clicked).sum().item()
        seen += len(clicked)
    return right / seen


def main():
    torch.manual_seed(11)
    train = Impressions(export_events(4000, seed=1))
    valid = Impressions(export_events(600, seed=2))
    shuffle = torch.Generator().manual_seed(3)
    train_loader = DataLoader(train, batch_size=256, shuffle=True, generator=shuffle)
    valid_loader = DataLoader(valid, batch_size=512)
    model = ClickModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(9):
        loss = train_epoch(model, train_loader, optimizer, loss_fn)
        print(f"epoch {epoch} loss {loss:.4f} accuracy {accuracy(model, valid_loader):.4f}")


if __name__ == "__main__":
    main()
