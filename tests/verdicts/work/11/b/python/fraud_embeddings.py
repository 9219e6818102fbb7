"""Trains a card-fraud scorer: learned vectors for merchants, cards and
terminals, joined with the amount and the hour, feed a small network."""
from dataclasses import dataclass

import torch
from torch import nn

MERCHANTS = 300_000
CARDS = 260_000
TERMINALS = 4_000
WIDTH = 24
BATCH = 256
STEPS = 440
EVALUATE = 220


@dataclass
class Transactions:
    merchant: torch.Tensor
    card: torch.Tensor
    terminal: torch.Tensor
    numbers: torch.Tensor
    fraud: torch.Tensor

    def __len__(self):
        return len(self.fraud)

    def batch(self, rows):
        return Transactions(
            self.merchant[rows], self.card[rows], self.terminal[rows], self.numbers[rows], self.fraud[rows]
        )


def zipf_ids(count, size, generator):
    """Ids with a heavy head, as merchants and terminals have."""
    u = torch.rand(size, generator=generator)
    return (count * u.pow(3)).long().clamp_(max=count - 1)


def make_transactions(size, generator):
    merchant = zipf_ids(MERCHANTS, size, generator)
    card = torch.randint(0, CARDS, (size,), generator=generator)
    terminal = zipf_ids(TERMINALS, size, generator)
    amount = torch.randn(size, generator=generator).exp()
    hour = torch.randint(0, 24, (size,), generator=generator).float()
    angle = hour * (2 * torch.pi / 24)
    numbers = torch.stack([amount.log1p(), angle.sin(), angle.cos()], dim=1)
    risk = -2.0 + 0.9 * (merchant % 11 == 3) + 1.2 * (terminal % 7 == 2) + 0.8 * amount.log1p() - 0.7 * angle.cos()
    fraud = (torch.rand(size, generator=generator) < risk.sigmoid()).float()
    return Transactions(merchant, card, terminal, numbers, fraud)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.merchant = nn.Embedding(MERCHANTS, WIDTH)
        self.card = nn.Embedding(CARDS, WIDTH)
        self.terminal = nn.Embedding(TERMINALS, WIDTH)
        for table in (self.merchant, self.card, self.terminal):
            nn.init.normal_(table.weight, std=0.05)
        self.net = nn.Sequential(
            nn.Linear(3 * WIDTH + 3, 256),
            nn.ReLU(),
            nn.Linear(256, 128),
            nn.ReLU(),
            nn.Linear(128, 1),
        )

    def forward(self, batch):
        x = torch.cat(
            [self.merchant(batch.merchant), self.card(batch.card), self.terminal(batch.terminal), batch.numbers],
            dim=1,
        )
        return self.net(x).squeeze(1)


def auc(scores, labels):
    """Area under the ROC curve by rank sums."""
    order = scores.argsort()
    ranks = torch.empty_like(scores)
    ranks[order] = torch.arange(1, len(scores) + 1, dtype=scores.dtype)
    positive = labels == 1
    n, m = positive.sum(), (~positive).sum()
    return ((ranks[positive].sum() - n * (n + 1) / 2) / (n * m)).item()


@torch.no_grad()
def evaluate(model, held_out):
    model.eval()
    scores = torch.cat([model(held_out.batch(rows)) for rows in torch.arange(len(held_out)).split(2048)])
    model.train()
    return auc(scores, held_out.fraud)


def train(model, data, held_out, generator):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_function = nn.BCEWithLogitsLoss()
    running = None
    aucs = []
    for step in range(STEPS):
        rows = torch.randint(0, len(data), (BATCH,), generator=generator)
        batch = data.batch(rows)
        loss = loss_function(model(batch), batch.fraud)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        value = loss.item()
        running = value if running is None else 0.95 * running + 0.05 * value
        if (step + 1) % EVALUATE == 0:
            aucs.append(evaluate(model, held_out))
    return running, aucs


def main():
    torch.manual_seed(17)
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(99)
    data = make_transactions(120_000, generator)
    held_out = make_transactions(8_000, generator)
    model = Scorer()
    running, aucs = train(model, data, held_out, generator)
    print(f"parameters {sum(p.numel() for p in model.parameters())}, fraud rate {data.fraud.mean():.3f}")
    print(f"loss {running:.4f}, auc {aucs[0]:.3f} -> {aucs[-1]:.3f}")


if __name__ == "__main__":
    main()
