"""Train a churn model on account features: categorical embeddings followed by
a small residual MLP."""
import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CARDINALITIES = (12, 50, 7, 200, 31, 4)
NUMERIC = 24


def make_accounts(rows, seed):
    """Synthetic account table with a known nonlinear churn signal."""
    g = torch.Generator().manual_seed(seed)
    numeric = torch.randn(rows, NUMERIC, generator=g)
    numeric[:, 3] = numeric[:, 3].exp().clamp(max=20)
    cats = torch.stack([torch.randint(0, n, (rows,), generator=g) for n in CARDINALITIES], 1)
    effects = torch.Generator().manual_seed(1)
    score = 0.8 * numeric[:, 0] - 0.6 * numeric[:, 1] * numeric[:, 2] + 0.1 * numeric[:, 3]
    for i, n in enumerate(CARDINALITIES):
        score = score + 0.5 * torch.randn(n, generator=effects)[cats[:, i]]
    noise = torch.randn(rows, generator=g)
    return numeric, cats, (score + noise > 0.4).float()


class AccountDataset(Dataset):
    def __init__(self, numeric, cats, label, mean, std):
        self.numeric, self.cats, self.label = numeric, cats, label
        self.mean, self.std = mean, std

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return (self.numeric[i] - self.mean) / self.std, self.cats[i], self.label[i]

    def __getitems__(self, index):
        return self[torch.tensor(index)]


class Block(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return x + self.drop(self.down(torch.relu(self.up(self.norm(x)))))


class ChurnNet(nn.Module):
    def __init__(self, width=64, depth=2, dropout=0.1):
        super().__init__()
        self.embeddings = nn.ModuleList(
            nn.Embedding(n, min(16, int(2 * math.sqrt(n)) + 1)) for n in CARDINALITIES
        )
        total = NUMERIC + sum(e.embedding_dim for e in self.embeddings)
        self.stem = nn.Linear(total, width)
        self.blocks = nn.Sequential(*[Block(width, dropout) for _ in range(depth)])
        self.head = nn.Linear(width, 1)

    def forward(self, numeric, cats):
        parts = [numeric] + [e(cats[:, i]) for i, e in enumerate(self.embeddings)]
        return self.head(self.blocks(self.stem(torch.cat(parts, 1)))).squeeze(1)


def auc(scores, labels):
    order = torch.argsort(scores)
    ranks = torch.empty(len(scores), dtype=torch.float64)
    ranks[order] = torch.arange(1, len(scores) + 1, dtype=torch.float64)
    pos = labels > 0.5
    n_pos, n_neg = int(pos.sum()), int((~pos).sum())
    return float((ranks[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg))


@torch.inference_mode()
def evaluate(model, dataset):
    model.eval()
    scores = []
    for start in range(0, len(dataset), 4096):
        numeric, cats, _ = dataset[start : start + 4096]
        scores.append(model(numeric, cats))
    model.train()
    return auc(torch.cat(scores), dataset.label)


def train(args):
    torch.manual_seed(args.seed)
    raw = make_accounts(args.rows, 10)
    mean, std = raw[0].mean(0), raw[0].std(0)
    train_set = AccountDataset(*raw, mean, std)
    valid_set = AccountDataset(*make_accounts(args.rows // 5, 11), mean, std)
    loader = DataLoader(
        train_set,
        batch_size=args.batch,
        shuffle=True,
        drop_last=True,
        collate_fn=lambda batch: batch,
        generator=torch.Generator().manual_seed(args.seed),
    )
    model = ChurnNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=2e-3, total_steps=args.epochs * len(loader)
    )
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        total = torch.zeros(())
        for numeric, cats, label in loader:
            loss = criterion(model(numeric, cats), label)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.detach()
        print(
            f"epoch {epoch} loss {total.item() / len(loader):.4f} "
            f"valid auc {evaluate(model, valid_set):.4f}"
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=84000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--seed", type=int, default=3)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
