"""Offline evaluation of a two-tower retrieval model: encodes a catalogue and a
query log, searches the catalogue in blocks and reports recall, MRR and nDCG."""
import torch
from torch import nn
from torch.nn import functional as F

WORDS = 12000
ITEMS, QUERIES = 60000, 20000
DIM = 96
TOP = 50


class Tower(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.words = words
        self.mlp = nn.Sequential(nn.Linear(DIM, 2 * DIM), nn.GELU(), nn.Linear(2 * DIM, DIM))

    def forward(self, tokens, offsets):
        x = self.words(tokens, offsets)
        return F.normalize(x + 0.3 * self.mlp(x), dim=-1)


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        words = nn.EmbeddingBag(WORDS, DIM, mode="mean")
        self.item = Tower(words)
        self.query = Tower(words)
        self.query.load_state_dict(self.item.state_dict())


class Bags:
    """Variable-length token lists stored back to back."""

    def __init__(self, tokens, lengths):
        self.tokens = tokens
        self.bounds = F.pad(lengths.cumsum(0), (1, 0))

    def __len__(self):
        return len(self.bounds) - 1

    def slice(self, first, last):
        start, stop = int(self.bounds[first]), int(self.bounds[last])
        return self.tokens[start:stop], self.bounds[first:last] - start


def make_catalogue(generator):
    lengths = torch.randint(6, 30, (ITEMS,), generator=generator)
    skew = torch.rand(int(lengths.sum()), generator=generator) ** 2
    return Bags((skew * WORDS).long(), lengths), lengths


def make_queries(items, lengths, generator):
    """A query repeats some words of the item that was clicked, plus noise."""
    clicked = torch.randint(ITEMS, (QUERIES,), generator=generator)
    sizes = torch.randint(3, 8, (QUERIES,), generator=generator)
    owner = torch.repeat_interleave(clicked, sizes)
    inside = (torch.rand(len(owner), generator=generator) * lengths[owner]).long()
    tokens = items.tokens[items.bounds[owner] + inside]
    noise = torch.rand(len(owner), generator=generator) < 0.25
    random_words = torch.randint(WORDS, (len(owner),), generator=generator)
    return Bags(torch.where(noise, random_words, tokens), sizes), clicked


def encode(tower, bags, block=4096):
    return torch.cat([tower(*bags.slice(i, min(i + block, len(bags)))) for i in range(0, len(bags), block)])


class BlockSearch:
    """Exact maximum-inner-product search, merging the best of each block."""

    def __init__(self, vectors, block=10000):
        self.blocks = vectors.split(block)
        self.block = block

    def search(self, queries, k):
        best, ids = None, None
        for n, part in enumerate(self.blocks):
            score, index = torch.topk(queries @ part.T, k, dim=1)
            index = index + n * self.block
            if best is None:
                best, ids = score, index
                continue
            best, keep = torch.topk(torch.cat([best, score], 1), k, dim=1)
            ids = torch.cat([ids, index], 1).gather(1, keep)
        return best, ids


class Metrics:
    def __init__(self):
        self.count = 0
        self.total = {}

    def _add(self, name, value):
        self.total[name] = self.total.get(name, 0.0) + value

    def update(self, ids, clicked):
        match = ids == clicked.unsqueeze(1)
        found = match.any(1)
        rank = match.float().argmax(1) + 1
        for k in (1, 10, TOP):
            self._add(f"recall@{k}", (found & (rank <= k)).sum())
        self._add("mrr", torch.where(found, 1.0 / rank, 0.0).sum())
        gain = 1.0 / torch.log2(rank + 1.0)
        self._add("ndcg@10", torch.where(found & (rank <= 10), gain, 0.0).sum())
        self.count += len(ids)

    def report(self):
        return {name: float(value) / self.count for name, value in self.total.items()}


@torch.inference_mode()
def main():
    torch.manual_seed(99)
    generator = torch.Generator().manual_seed(7)
    model = TwoTower().eval()
    items, lengths = make_catalogue(generator)
    queries, clicked = make_queries(items, lengths, generator)

    index = BlockSearch(encode(model.item, items))
    vectors = encode(model.query, queries)
    metrics = Metrics()
    spread = torch.zeros(())
    for part, truth in zip(vectors.split(250), clicked.split(250)):
        scores, ids = index.search(part, TOP)
        metrics.update(ids, truth)
        spread += (scores[:, 0] - scores[:, -1]).sum()

    print(f"items {len(items)} queries {len(queries)} tokens {len(items.tokens)}")
    for name, value in metrics.report().items():
        print(f"{name} {value:.3f}")
    print(f"score spread {float(spread) / len(queries):.3f}")


if __name__ == "__main__":
    main()
