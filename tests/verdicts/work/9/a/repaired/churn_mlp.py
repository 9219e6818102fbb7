"""Trains a churn classifier on subscription features and reports its ROC AUC."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

FEATURES = 48
TRAIN_ROWS = 24_000
VALID_ROWS = 14_000
EPOCHS = 8


def make_customers(rows, generator):
    """Synthetic subscribers: usage, tenure, complaints and plan dummies."""
    x = torch.randn(rows, FEATURES, generator=generator)
    x[:, 8:24] = (x[:, 8:24] > 0.4).float()
    tenure = x[:, 0].clamp(-2, 2)
    complaints = x[:, 1].clamp(min=0)
    logits = (
        -1.2
        - 0.9 * tenure
        + 1.1 * complaints
        + 0.8 * x[:, 8] * x[:, 2]
        - 0.6 * x[:, 9] * x[:, 3].abs()
        + 0.3 * torch.sin(3 * x[:, 4])
    )
    y = (torch.rand(rows, generator=generator) < torch.sigmoid(logits)).float()
    return x, y


class Standardiser:
    def __init__(self, x):
        self.mean = x.mean(0)
        self.std = x.std(0).clamp(min=1e-6)

    def __call__(self, x):
        return (x - self.mean) / self.std


class ChurnNet(nn.Module):
    def __init__(self, features, width=128, depth=3, dropout=0.1):
        super().__init__()
        layers = []
        last = features
        for _ in range(depth):
            layers += [nn.Linear(last, width), nn.BatchNorm1d(width), nn.SiLU(), nn.Dropout(dropout)]
            last = width
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(last, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(-1)


def roc_auc(scores, labels):
    """Probability that a churner is ranked above a customer who stays."""
    pos = scores[labels > 0.5]
    neg = scores[labels < 0.5].sort().values
    below = torch.searchsorted(neg, pos).double().sum()
    not_above = torch.searchsorted(neg, pos, right=True).double().sum()
    return (0.5 * (below + not_above) / (len(pos) * len(neg))).item()


def brier(scores, labels):
    return (torch.sigmoid(scores) - labels).square().mean().item()


def calibration_error(scores, labels, bins=15):
    p = torch.sigmoid(scores)
    which = (p * bins).long().clamp(max=bins - 1)
    n = torch.bincount(which, minlength=bins).clamp(min=1)
    confidence = torch.zeros(bins).scatter_add_(0, which, p) / n
    accuracy = torch.zeros(bins).scatter_add_(0, which, labels) / n
    weight = torch.bincount(which, minlength=bins) / len(p)
    return ((confidence - accuracy).abs() * weight).sum().item()


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    scores = torch.cat([model(chunk) for chunk in x.split(4096)])
    model.train()
    return {
        "auc": roc_auc(scores, y),
        "brier": brier(scores, y),
        "ece": calibration_error(scores, y),
    }


def cosine(step, total, warmup=100):
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, total - warmup)))


def train(model, loader, valid_x, valid_y):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
    total = EPOCHS * len(loader)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: cosine(s, total))
    loss_fn = nn.BCEWithLogitsLoss()
    history = []
    for epoch in range(EPOCHS):
        running = 0.0
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = loss_fn(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            running += loss.item()
        metrics = evaluate(model, valid_x, valid_y)
        metrics["loss"] = running / len(loader)
        history.append(metrics)
    return history


def main():
    torch.manual_seed(11)
    generator = torch.Generator().manual_seed(12)
    train_x, train_y = make_customers(TRAIN_ROWS, generator)
    valid_x, valid_y = make_customers(VALID_ROWS, generator)
    scale = Standardiser(train_x)
    data = TensorDataset(scale(train_x), train_y)
    loader = DataLoader(data, batch_size=None, sampler=torch.utils.data.BatchSampler(
        torch.utils.data.RandomSampler(data, generator=generator), 256, drop_last=True))
    model = ChurnNet(FEATURES)
    history = train(model, loader, scale(valid_x), valid_y)
    best = max(range(EPOCHS), key=lambda e: history[e]["auc"])
    for epoch, m in enumerate(history):
        mark = "*" if epoch == best else " "
        print(f"{mark}epoch {epoch}: loss {m['loss']:.4f} auc {m['auc']:.4f} "
              f"brier {m['brier']:.4f} ece {m['ece']:.4f}")


if __name__ == "__main__":
    main()
