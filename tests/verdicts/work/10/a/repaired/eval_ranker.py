"""Offline evaluation of the search ranker: scores the held-out impressions and
reports ROC AUC, average precision and calibration, with progress on the way."""
import torch
from torch import nn

BATCHES = 150
BATCH = 2048
FEATURES = 48
REPORT_EVERY = 30


class Ranker(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.norm = nn.BatchNorm1d(FEATURES)
        self.deep = nn.Sequential(nn.Linear(FEATURES, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))
        self.cross = nn.Linear(FEATURES, FEATURES)
        self.wide = nn.Linear(FEATURES, 1)

    def forward(self, x):
        x = self.norm(x)
        return (self.deep(x) + self.wide(x * self.cross(x))).squeeze(1)


class Impressions:
    """Reproducible stream of held-out impressions."""

    def __init__(self, batches, seed):
        self.batches = batches
        self.seed = seed
        gen = torch.Generator().manual_seed(77)
        self.weights = torch.randn(FEATURES, generator=gen) / FEATURES ** 0.5
        self.pairs = torch.randn(FEATURES, FEATURES, generator=gen) / FEATURES

    def __len__(self):
        return self.batches

    def __iter__(self):
        gen = torch.Generator().manual_seed(self.seed)
        for _ in range(self.batches):
            x = torch.randn(BATCH, FEATURES, generator=gen)
            logit = 1.4 * (x @ self.weights) + ((x @ self.pairs) * x).sum(dim=1) - 0.8
            yield x, (torch.rand(BATCH, generator=gen) < torch.sigmoid(logit)).float()


class RankingMetrics:
    def __init__(self, bins=20):
        self.bins = bins
        self.scores = []
        self.labels = []

    def update(self, scores, labels):
        self.scores.append(scores)
        self.labels.append(labels)

    def compute(self):
        scores = torch.cat(self.scores)
        labels = torch.cat(self.labels)
        ordered, index = torch.sort(scores, descending=True, stable=True)
        hits = labels[index].double()
        true_positive = hits.cumsum(0)
        rank = torch.arange(1, len(hits) + 1, dtype=torch.float64)
        positives, negatives = true_positive[-1], len(hits) - true_positive[-1]
        false_positive = rank - true_positive
        auc = torch.trapezoid(true_positive, false_positive) / (positives * negatives)
        precision = (true_positive / rank * hits).sum() / positives
        probability = torch.sigmoid(ordered)
        bucket = (probability * self.bins).long().clamp_(max=self.bins - 1)
        count = torch.bincount(bucket, minlength=self.bins).double()
        gap = (torch.bincount(bucket, weights=probability.double(), minlength=self.bins)
               - torch.bincount(bucket, weights=hits, minlength=self.bins)).abs()
        return {"auc": float(auc), "ap": float(precision), "ece": float(gap.sum() / count.sum())}


def fit(model, stream):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    loss_fn = nn.BCEWithLogitsLoss()
    model.train()
    for x, y in stream:
        loss = loss_fn(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


def evaluate(model, stream):
    metrics = RankingMetrics()
    model.eval()
    with torch.inference_mode():
        for number, (x, y) in enumerate(stream, 1):
            metrics.update(model(x), y)
            if number % REPORT_EVERY == 0:
                values = metrics.compute()
                print(f"  {number:>4}/{len(stream)} batches: " + ", ".join(f"{k} {v:.4f}" for k, v in values.items()))
    return metrics.compute()


def main():
    torch.manual_seed(10)
    model = Ranker()
    fit(model, Impressions(80, seed=1))
    values = evaluate(model, Impressions(BATCHES, seed=2))
    print(f"impressions {BATCHES * BATCH}: " + ", ".join(f"{k} {v:.4f}" for k, v in values.items()))


if __name__ == "__main__":
    main()
