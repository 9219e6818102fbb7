"""Trains the click model of the recommendation feed on compressed log shards."""
import json
import os
import random
import tempfile
import zlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

SHARDS = 8
ROWS = 6000
CHUNK = 1000
EPOCHS = 10
USERS, ITEMS, HOURS = 5000, 3000, 24


def write_shards(folder):
    rng = random.Random(8)
    taste = [rng.gauss(0, 1) for _ in range(USERS)]
    appeal = [rng.gauss(0, 1) for _ in range(ITEMS)]
    paths = []
    for shard in range(SHARDS):
        lines = []
        for _ in range(ROWS):
            user, item, hour = rng.randrange(USERS), int(ITEMS * rng.random() ** 2), rng.randrange(HOURS)
            score = 0.9 * taste[user] + 1.1 * appeal[item] + (0.4 if 18 <= hour < 23 else -0.2)
            lines.append(json.dumps({"user": user, "item": item, "hour": hour, "dwell": round(rng.expovariate(0.2), 2),
                                     "click": int(rng.gauss(0, 1) < score)}))
        path = os.path.join(folder, f"clicks-{shard:02d}.jsonl.z")
        with open(path, "wb") as out:
            out.write(zlib.compress("\n".join(lines).encode(), 6))
        paths.append(path)
    return paths


class ClickLog(Dataset):
    """Chunks of the click log.  The shards are opened by the process that reads them."""

    def __init__(self, paths):
        self.paths = paths
        self.columns = None

    def __len__(self):
        return SHARDS * ROWS // CHUNK

    def _load(self):
        ids, dwell, click = [], [], []
        for path in self.paths:
            with open(path, "rb") as source:
                text = zlib.decompress(source.read()).decode()
            for line in text.splitlines():
                row = json.loads(line)
                ids.append((row["user"], row["item"], row["hour"]))
                dwell.append(row["dwell"])
                click.append(row["click"])
        dwell = torch.tensor(dwell).log1p()
        self.columns = (torch.tensor(ids), (dwell - dwell.mean()) / dwell.std(), torch.tensor(click, dtype=torch.float32))

    def __getitem__(self, index):
        if self.columns is None:
            self._load()
        rows = slice(index * CHUNK, (index + 1) * CHUNK)
        return tuple(column[rows] for column in self.columns)


class ClickModel(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.user = nn.Embedding(USERS, width)
        self.item = nn.Embedding(ITEMS, width)
        self.hour = nn.Embedding(HOURS, 8)
        self.body = nn.Sequential(nn.Linear(2 * width + 9, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, ids, dwell):
        parts = [self.user(ids[:, 0]), self.item(ids[:, 1]), self.hour(ids[:, 2]), dwell.unsqueeze(1)]
        return self.body(torch.cat(parts, dim=1)).squeeze(1)


def build_loader(paths):
    dataset = ClickLog(paths)
    order = RandomSampler(dataset, generator=torch.Generator().manual_seed(3))
    return DataLoader(
        dataset,
        batch_size=None,
        sampler=order,
        num_workers=2,
        persistent_workers=True,
        prefetch_factor=4,
    )


def train(paths):
    torch.manual_seed(1)
    model = ClickModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-6)
    loss_fn = nn.BCEWithLogitsLoss()
    loader = build_loader(paths)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=EPOCHS * len(loader))
    for epoch in range(EPOCHS):
        total = correct = seen = 0.0
        for ids, dwell, click in loader:
            logits = model(ids, dwell)
            loss = loss_fn(logits, click)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.detach() * len(click)
            correct += ((logits.detach() > 0) == (click > 0.5)).sum()
            seen += len(click)
        print(f"epoch {epoch}: loss {float(total) / seen:.4f}, accuracy {float(correct) / seen:.4f}")
    return model


def main():
    with tempfile.TemporaryDirectory() as folder:
        model = train(write_shards(folder))
    print(f"parameters {sum(p.numel() for p in model.parameters())}")


if __name__ == "__main__":
    main()
