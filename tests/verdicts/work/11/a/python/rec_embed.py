"""Trains a click model for a shop's "you may also like" shelf.

A visitor is described by the articles last looked at, an article by its embedding and a
few attributes; a small network scores the pair."""
import math

import torch
from torch import nn
from torch.nn import functional as F

ARTICLES = 200_000
VISITORS = 60_000
HISTORY = 12
ATTRIBUTES = 8
WIDTH = 32
BATCH = 512
STEPS = 190
LEARNING_RATE = 0.5


class ShelfModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.article = nn.Embedding(ARTICLES, WIDTH)
        self.visitor = nn.Embedding(VISITORS, WIDTH)
        nn.init.normal_(self.article.weight, std=0.05)
        nn.init.normal_(self.visitor.weight, std=0.05)
        self.attributes = nn.Linear(ATTRIBUTES, WIDTH)
        self.score = nn.Sequential(
            nn.Linear(4 * WIDTH, 128),
            nn.ReLU(),
            nn.Linear(128, 64),
            nn.ReLU(),
            nn.Linear(64, 1),
        )

    def forward(self, visitor, history, candidate, attributes):
        seen = self.article(history).mean(dim=1)
        person = self.visitor(visitor)
        item = self.article(candidate) + self.attributes(attributes)
        pair = torch.cat([seen, person, item, seen * item], dim=1)
        return self.score(pair).squeeze(1)


class ClickLog:
    """Draws clicks from a hidden model: articles have a taste, so have visitors."""

    def __init__(self, seed):
        self.rng = torch.Generator().manual_seed(seed)
        self.taste = torch.randint(0, 24, (ARTICLES,), generator=self.rng)
        self.by_taste = self.taste.argsort(stable=True)
        self.group_size = torch.bincount(self.taste, minlength=24)
        self.group_start = self.group_size.cumsum(0) - self.group_size
        self.likes = torch.randint(0, 24, (VISITORS,), generator=self.rng)
        self.attributes = torch.randn(ARTICLES, ATTRIBUTES, generator=self.rng)
        self.appeal = 0.4 * self.attributes[:, 0] - 0.6 * self.attributes[:, 1]

    def articles(self, count):
        """Popular articles have low numbers."""
        u = torch.rand(count, generator=self.rng)
        return (u.pow(2.5) * ARTICLES).long().clamp_(max=ARTICLES - 1)

    def liked(self, tastes):
        u = torch.rand(tastes.shape, generator=self.rng)
        place = (u * self.group_size[tastes]).long()
        return self.by_taste[self.group_start[tastes] + place]

    def batch(self):
        visitor = torch.randint(0, VISITORS, (BATCH,), generator=self.rng)
        tastes = self.likes[visitor][:, None].expand(BATCH, HISTORY)
        history = self.liked(tastes)
        fits = torch.rand(BATCH, generator=self.rng) < 0.5
        candidate = torch.where(fits, self.liked(self.likes[visitor]), self.articles(BATCH))
        logit = self.appeal[candidate] + torch.where(self.taste[candidate] == self.likes[visitor], 1.5, -1.5)
        clicked = (torch.rand(BATCH, generator=self.rng) < torch.sigmoid(logit)).float()
        return visitor, history, candidate, self.attributes[candidate], clicked


def train(model, log):
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    running = math.log(2)
    for step in range(STEPS):
        *features, clicked = log.batch()
        loss = F.binary_cross_entropy_with_logits(model(*features), clicked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running = 0.95 * running + 0.05 * loss.item()
    return running


def evaluate(model, log, batches):
    """Share of pairs (clicked, not clicked) that the model puts in the right order."""
    ordered = pairs = 0
    with torch.no_grad():
        for _ in range(batches):
            *features, clicked = log.batch()
            scores = model(*features)
            wins = scores[clicked == 1][:, None] > scores[clicked == 0][None, :]
            ordered += wins.sum().item()
            pairs += wins.numel()
    return ordered / pairs


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    log = ClickLog(seed=11)
    model = ShelfModel()
    loss = train(model, log)
    print(f"steps {STEPS}, running loss {loss:.4f}")
    print(f"ordered pairs {evaluate(model, log, 20):.4f}")


if __name__ == "__main__":
    main()
