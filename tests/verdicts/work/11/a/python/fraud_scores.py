"""Trains a model that flags suspicious card payments, on the stream of a day's payments.

Payments arrive in small batches; the model learns from each after it has scored it, as
chargebacks become known."""
import logging

import torch
from torch import nn
from torch.nn import functional as F

log = logging.getLogger("fraud")

MERCHANT_KINDS = 40
COUNTRIES = 60
NUMBERS = 12
BATCH = 512
BATCHES = 1200
REPORT_EVERY = 400


class Payments:
    """Fraud is rare and clusters in a few kinds of merchants, countries and amounts."""

    def __init__(self, seed):
        self.rng = torch.Generator().manual_seed(seed)
        self.kind_risk = torch.randn(MERCHANT_KINDS, generator=self.rng)
        self.country_risk = torch.randn(COUNTRIES, generator=self.rng)
        self.weights = torch.randn(NUMBERS, generator=self.rng) * 0.6

    def batch(self):
        kind = torch.randint(0, MERCHANT_KINDS, (BATCH,), generator=self.rng)
        country = torch.randint(0, COUNTRIES, (BATCH,), generator=self.rng)
        numbers = torch.randn(BATCH, NUMBERS, generator=self.rng)
        logit = self.kind_risk[kind] + self.country_risk[country] + numbers @ self.weights - 3.0
        fraud = torch.rand(BATCH, generator=self.rng) < torch.sigmoid(1.5 * logit)
        return kind, country, numbers, fraud.float()


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.kind = nn.Embedding(MERCHANT_KINDS, 8)
        self.country = nn.Embedding(COUNTRIES, 8)
        self.net = nn.Sequential(
            nn.Linear(NUMBERS + 16, 64),
            nn.LayerNorm(64),
            nn.ReLU(),
            nn.Linear(64, 32),
            nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, kind, country, numbers):
        features = torch.cat([numbers, self.kind(kind), self.country(country)], dim=1)
        return self.net(features).squeeze(1)


class Monitor:
    """Precision of the riskiest payments of each batch, and the mean loss."""

    def __init__(self):
        self.batches = 0
        self.loss = 0.0
        self.flagged = 0
        self.caught = 0
        self.frauds = 0

    def add(self, scores, fraud, loss):
        riskiest = scores.topk(24).indices
        self.batches += 1
        self.loss += loss.item()
        self.flagged += len(riskiest)
        self.caught += int(fraud[riskiest].sum())
        self.frauds += int(fraud.sum())

    def summary(self):
        return (
            f"loss {self.loss / self.batches:.4f}, precision {self.caught / self.flagged:.4f}, "
            f"recall {self.caught / max(1, self.frauds):.4f}"
        )


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
        self.step_number = 0

    def step(self, kind, country, numbers, fraud):
        logits = self.model(kind, country, numbers)
        loss = F.binary_cross_entropy_with_logits(logits, fraud)
        self.optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimizer.step()
        self.step_number += 1
        scores = torch.sigmoid(logits.detach())
        log.debug(f"step {self.step_number}: loss {loss.item():.4f}, gradient {norm:.3f}, scores {scores}")
        return scores, loss


def main():
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    torch.manual_seed(14)
    torch.set_num_threads(1)
    payments = Payments(seed=30)
    trainer = Trainer(Scorer())
    monitor = Monitor()
    for number in range(1, BATCHES + 1):
        *features, fraud = payments.batch()
        scores, loss = trainer.step(*features, fraud)
        monitor.add(scores, fraud, loss)
        if number % REPORT_EVERY == 0:
            print(f"payments {number * BATCH}: {monitor.summary()}")
            monitor = Monitor()


if __name__ == "__main__":
    main()
