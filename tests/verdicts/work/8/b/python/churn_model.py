"""Churn model of a telecom operator: a small network on features that are derived
from the raw usage records of each customer."""
import math
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler

CUSTOMERS = 2400
VALIDATION = 480
DAYS = 60
EPOCHS = 14
BATCH = 96
SEED = 77


class UsageDataset(Dataset):
    """Raw daily usage per customer; features are derived per sample, with jitter of
    the observation window as augmentation in training."""

    def __init__(self, usage, tenure, churned, augment):
        self.usage = usage
        self.tenure = tenure
        self.churned = churned
        self.augment = augment
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return self.usage.shape[0]

    def __getitem__(self, index):
        days = self.usage[index]
        if self.augment:
            shift = (index * 31 + self.epoch * 17) % 7
            days = days[shift : shift + DAYS - 7]
        else:
            days = days[3 : 3 + DAYS - 7]
        recent, early = days[-14:].mean(0), days[:14].mean(0)
        features = torch.cat(
            [days.mean(0), days.std(0), recent - early, recent, days.amax(0), self.tenure[index : index + 1]]
        )
        return features, self.churned[index]


class EpochSampler(Sampler):
    def __init__(self, size, seed):
        self.size = size
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return self.size

    def __iter__(self):
        gen = torch.Generator().manual_seed(self.seed * 1000 + self.epoch)
        return iter(torch.randperm(self.size, generator=gen).tolist())


def synthetic_customers(gen):
    n = CUSTOMERS
    level = torch.rand(n, 1, 4, generator=gen) * 3 + 0.5
    trend = torch.randn(n, 1, 1, generator=gen) * 0.6
    t = torch.linspace(0, 1, DAYS).view(1, DAYS, 1)
    usage = level * (1 + trend * t) + 0.3 * torch.randn(n, DAYS, 4, generator=gen)
    tenure = torch.rand(n, generator=gen) * 6
    logit = -3.0 * trend.view(n) - 0.5 * (tenure - 3) - 0.4 * (level.view(n, 4).mean(1) - 2)
    churned = (torch.rand(n, generator=gen) < torch.sigmoid(1.5 * logit)).float()
    return usage.clamp_min(0), tenure / 6, churned


def build_model():
    return nn.Sequential(
        nn.Linear(21, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1)
    )


def make_loaders(usage, tenure, churned):
    cut = CUSTOMERS - VALIDATION
    train_set = UsageDataset(usage[:cut], tenure[:cut], churned[:cut], augment=True)
    valid_set = UsageDataset(usage[cut:], tenure[cut:], churned[cut:], augment=False)
    sampler = EpochSampler(cut, SEED)
    train = DataLoader(train_set, batch_size=BATCH, sampler=sampler, num_workers=2)
    valid = DataLoader(valid_set, batch_size=240, num_workers=2)
    return train, valid, sampler


def auc(scores, labels):
    order = torch.argsort(scores)
    ranks = torch.empty_like(order)
    ranks[order] = torch.arange(1, scores.numel() + 1)
    pos = labels.bool()
    n_pos, n_neg = int(pos.sum()), int((~pos).sum())
    return (ranks[pos].sum().item() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    scores, labels = [], []
    for features, target in loader:
        scores.append(model(features).squeeze(1))
        labels.append(target)
    model.train()
    return auc(torch.cat(scores), torch.cat(labels))


def main():
    torch.manual_seed(SEED)
    gen = torch.Generator().manual_seed(SEED)
    train, valid, sampler = make_loaders(*synthetic_customers(gen))
    model = build_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    loss_fn = nn.BCEWithLogitsLoss()
    best, started = 0.0, time.perf_counter()
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        train.dataset.set_epoch(epoch)
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * 0.5 * (1 + math.cos(math.pi * epoch / EPOCHS))
        for features, target in train:
            optimizer.zero_grad()
            loss = loss_fn(model(features).squeeze(1), target)
            loss.backward()
            optimizer.step()
        best = max(best, validate(model, valid))
    print(f"customers {CUSTOMERS} epochs {EPOCHS} last loss {loss.item():.4f} best AUC {best:.4f}")
    print(f"{time.perf_counter() - started:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
