"""Evaluates a two-tower retrieval model: encodes queries and catalogue, ranks
the catalogue for every query and reports recall, MRR and nDCG by segment.
"""
import math
from collections import defaultdict

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

ITEMS = 40_000
QUERIES = 1280
TOKENS = 24
VOCAB = 20_000
DIM = 128
CUTOFF = 20
SEGMENTS = ["head", "torso", "tail"]


class Tower(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embed = nn.EmbeddingBag(vocab, hidden, mode="mean")
        self.mlp = nn.Sequential(nn.Linear(hidden, 2 * hidden), nn.GELU(), nn.Linear(2 * hidden, DIM))
        self.skip = nn.Linear(hidden, DIM, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        return F.normalize(self.skip(x) + 0.1 * self.mlp(x), dim=1)


class ItemDataset(Dataset):
    """Titles as token ids; Zipf-like use of the vocabulary."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        u = torch.rand(n, TOKENS, generator=g)
        self.tokens = (VOCAB ** u).long().clamp_(max=VOCAB - 1)

    def __len__(self):
        return len(self.tokens)

    def __getitems__(self, rows):
        return self.tokens[torch.as_tensor(rows)]

    def __getitem__(self, row):
        return self.tokens[row]


class QueryDataset(Dataset):
    """Each query repeats some words of the item that was bought after it."""

    def __init__(self, items, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.target = (torch.rand(n, generator=g) ** 2 * len(items)).long()
        source = items.tokens[self.target]
        share = torch.rand(n, 1, generator=g) * 0.5 + 0.3
        keep = torch.rand(source.shape, generator=g) < share
        other = torch.randint(0, VOCAB, source.shape, generator=g)
        self.tokens = torch.where(keep, source, other)
        third = len(items) // 3
        self.segment = (self.target // (third + 1)).tolist()

    def __len__(self):
        return len(self.target)

    def __getitem__(self, row):
        return self.tokens[row], self.target[row], row


def whole(batch):
    return batch


@torch.inference_mode()
def encode_items(tower, items):
    out = torch.empty(len(items), DIM)
    at = 0
    for tokens in DataLoader(items, batch_size=2048, collate_fn=whole):
        out[at : at + len(tokens)] = tower(tokens)
        at += len(tokens)
    return out


class Report:
    def __init__(self):
        self.values = defaultdict(list)

    def add(self, segment, rank):
        """rank: 0-based place of the wanted item, None where it is below the cut-off."""
        hit = rank is not None
        row = (
            float(hit and rank < 1),
            float(hit),
            1.0 / (rank + 1) if hit else 0.0,
            1.0 / math.log2(rank + 2) if hit else 0.0,
        )
        self.values[segment].append(row)
        self.values["all"].append(row)

    def lines(self):
        for segment in [*SEGMENTS, "all"]:
            rows = torch.tensor(self.values[segment])
            r1, rk, mrr, ndcg = rows.mean(dim=0).tolist()
            yield f"{segment:6s} n={len(rows):5d} R@1 {r1:.3f} R@{CUTOFF} {rk:.3f} MRR {mrr:.3f} nDCG {ndcg:.3f}"


def best_items(query, catalogue, popularity, k):
    scores = torch.addmm(popularity, query, catalogue.T, alpha=1.0, beta=0.01)
    return scores.topk(k, dim=1).indices


@torch.inference_mode()
def evaluate(query_tower, catalogue, popularity, queries):
    report = Report()
    shown = torch.zeros(len(catalogue), dtype=torch.long)
    for tokens, target, rows in DataLoader(queries, batch_size=128):
        ranked = best_items(query_tower(tokens), catalogue, popularity, CUTOFF)
        shown += torch.bincount(ranked.flatten(), minlength=len(catalogue))
        match = ranked == target.unsqueeze(1)
        found = match.any(dim=1).tolist()
        place = match.int().argmax(dim=1).tolist()
        for row, hit, rank in zip(rows.tolist(), found, place):
            report.add(SEGMENTS[queries.segment[row]], rank if hit else None)
    return report, int((shown > 0).sum())


def main():
    torch.manual_seed(2)
    item_tower = Tower(VOCAB, 192).eval()
    query_tower = Tower(VOCAB, 192).eval()
    query_tower.load_state_dict(item_tower.state_dict())
    with torch.no_grad():
        for p in query_tower.parameters():
            p.add_(torch.randn_like(p) * 0.02 * p.std())
    items = ItemDataset(ITEMS, seed=10)
    queries = QueryDataset(items, QUERIES, seed=11)
    catalogue = encode_items(item_tower, items)
    popularity = torch.linspace(1, 0, ITEMS).unsqueeze(0)
    report, coverage = evaluate(query_tower, catalogue, popularity, queries)
    for line in report.lines():
        print(line)
    print(f"catalogue shown: {coverage} of {ITEMS}")


if __name__ == "__main__":
    main()
