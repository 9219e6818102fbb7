"""Click-through-rate model for an ad exchange: hashed categorical features with
per-feature embeddings, a factorisation term and a small dense tower.  Trained on
one pass over a synthetic click stream and checked by progressive log loss."""
import math
from dataclasses import dataclass

import torch
from torch import nn

BUCKETS = {"user": 160_000, "creative": 60_000, "site": 20_000, "device": 400, "hour": 24}
DIM = 16
BATCH = 512
STEPS = 100


@dataclass
class Batch:
    ids: dict[str, torch.Tensor]
    dense: torch.Tensor
    click: torch.Tensor


class ClickStream:
    """Zipf-like traffic; the click odds depend on hidden factors of the ids."""

    def __init__(self, seed: int):
        self.generator = torch.Generator().manual_seed(seed)
        self.hidden = {name: torch.randn(n, 4, generator=self.generator) * 0.6
                       for name, n in BUCKETS.items()}

    def skewed(self, n: int) -> torch.Tensor:
        u = torch.rand(BATCH, generator=self.generator)
        return (n ** u - 1).long().clamp(0, n - 1)

    def next(self) -> Batch:
        ids = {name: self.skewed(n) for name, n in BUCKETS.items()}
        dense = torch.randn(BATCH, 6, generator=self.generator)
        h = {k: self.hidden[k][v] for k, v in ids.items()}
        odds = (1.5 * (h["user"] * h["creative"]).sum(1) + h["site"][:, 0] + 0.5 * h["hour"][:, 1]
                + 0.6 * dense[:, 0] - 0.4 * dense[:, 3] - 1.6)
        click = (torch.rand(BATCH, generator=self.generator) < odds.sigmoid()).float()
        return Batch(ids, dense, click)


class ClickModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.factors = nn.ModuleDict({
            name: nn.Embedding(n, DIM, sparse=True) for name, n in BUCKETS.items()})
        self.bias = nn.ModuleDict({
            name: nn.Embedding(n, 1, sparse=True) for name, n in BUCKETS.items()})
        for e in self.factors.values():
            nn.init.normal_(e.weight, std=0.05)
        for e in self.bias.values():
            nn.init.zeros_(e.weight)
        width = DIM * len(BUCKETS) + 6
        self.tower = nn.Sequential(nn.Linear(width, 96), nn.ReLU(), nn.Linear(96, 48), nn.ReLU(),
                                   nn.Linear(48, 1))

    def forward(self, batch: Batch) -> torch.Tensor:
        v = torch.stack([e(batch.ids[k]) for k, e in self.factors.items()], dim=1)
        pairwise = 0.5 * (v.sum(1).square() - v.square().sum(1)).sum(1)
        linear = torch.cat([e(batch.ids[k]) for k, e in self.bias.items()], dim=1).sum(1)
        tower = self.tower(torch.cat([v.flatten(1), batch.dense], dim=1)).squeeze(1)
        return linear + pairwise + tower

    def optimizers(self) -> list[torch.optim.Optimizer]:
        tables = [*self.factors.parameters(), *self.bias.parameters()]
        return [torch.optim.Adagrad(tables, lr=0.08),
                torch.optim.Adam(self.tower.parameters(), lr=2e-3)]


class ProgressiveMetrics:
    """Predictions are scored before the batch is used for training."""

    def __init__(self):
        self.loss = 0.0
        self.rows = 0
        self.scores: list[torch.Tensor] = []
        self.labels: list[torch.Tensor] = []

    def add(self, logits: torch.Tensor, click: torch.Tensor, loss: float) -> None:
        self.loss += loss * len(click)
        self.rows += len(click)
        self.scores.append(logits)
        self.labels.append(click)

    def auc(self) -> float:
        scores, labels = torch.cat(self.scores[-30:]), torch.cat(self.labels[-30:])
        rank = torch.empty_like(scores)
        rank[scores.argsort()] = torch.arange(1, len(scores) + 1, dtype=scores.dtype)
        pos = labels.sum()
        neg = len(labels) - pos
        return ((rank[labels > 0].sum() - pos * (pos + 1) / 2) / (pos * neg)).item()

    def calibration(self) -> float:
        return (torch.cat(self.scores).sigmoid().sum() / torch.cat(self.labels).sum()).item()


def main() -> None:
    torch.manual_seed(0)
    stream, model, metrics = ClickStream(seed=21), ClickModel(), ProgressiveMetrics()
    optimizers = model.optimizers()
    criterion = nn.BCEWithLogitsLoss()
    for _ in range(STEPS):
        batch = stream.next()
        logits = model(batch)
        loss = criterion(logits, batch.click)
        for opt in optimizers:
            opt.zero_grad(set_to_none=True)
        loss.backward()
        for opt in optimizers:
            opt.step()
        metrics.add(logits.detach(), batch.click, loss.item())
    mean = metrics.loss / metrics.rows
    print(f"{metrics.rows} impressions, log loss {mean:.4f} ({mean / math.log(2):.4f} bits)")
    print(f"late AUC {metrics.auc():.3f}, calibration {metrics.calibration():.3f}")


if __name__ == "__main__":
    main()
