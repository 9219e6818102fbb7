"""'More like this' service: a queue of shopper events is answered with the most
similar articles from the embedding catalogue."""
import collections
import random
import time

import torch
from torch import nn
from torch.nn import functional as F

ITEMS = 60000
DIM = 128


class Catalogue:
    def __init__(self, seed):
        g = torch.Generator().manual_seed(seed)
        self.category = torch.randint(0, 40, (ITEMS,), generator=g)
        centres = torch.randn(40, DIM, generator=g)
        spread = torch.randn(ITEMS, DIM, generator=g)
        popularity = 0.5 + torch.rand(ITEMS, 1, generator=g)
        self.vectors = (centres[self.category] + spread) * popularity
        self.in_stock = torch.rand(ITEMS, generator=g) < 0.9

    def vector(self, item):
        return self.vectors[item]


class ShopperEncoder(nn.Module):
    """Folds the recently viewed articles into one query vector."""

    def __init__(self):
        super().__init__()
        self.attend = nn.Linear(DIM, 1)
        self.project = nn.Sequential(nn.Linear(DIM, DIM), nn.Tanh(), nn.Linear(DIM, DIM))

    def forward(self, recent):
        weight = self.attend(recent).softmax(dim=0)
        pooled = (weight * recent).sum(0)
        return pooled + 0.2 * self.project(pooled)


class Sessions:
    def __init__(self, keep=12):
        self.keep = keep
        self.recent = collections.defaultdict(lambda: collections.deque(maxlen=self.keep))

    def view(self, shopper, item):
        self.recent[shopper].append(item)

    def items(self, shopper):
        return list(self.recent[shopper])


class Recommender:
    def __init__(self, catalogue, encoder, top=20):
        self.catalogue = catalogue
        self.encoder = encoder.eval()
        self.top = top

    def similarity(self, query):
        return F.cosine_similarity(self.catalogue.vectors, query.unsqueeze(0), dim=1)

    @torch.inference_mode()
    def recommend(self, viewed):
        query = self.encoder(self.catalogue.vector(viewed))
        scores = self.similarity(query)
        scores = scores.masked_fill(~self.catalogue.in_stock, -1.0)
        scores[viewed] = -1.0
        best = scores.topk(self.top)
        return best.indices.tolist(), best.values


def events(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        yield {"shopper": rng.randint(1, 50), "item": rng.randint(0, ITEMS - 1)}


def diversify(catalogue, ranked, limit=3, size=8):
    taken = collections.Counter()
    chosen = []
    for item in ranked:
        category = int(catalogue.category[item])
        if taken[category] < limit:
            taken[category] += 1
            chosen.append(item)
        if len(chosen) == size:
            break
    return chosen


def serve(recommender, sessions, stream):
    latencies, check, quality = [], 0, 0.0
    for event in stream:
        began = time.perf_counter()
        sessions.view(event["shopper"], event["item"])
        ranked, values = recommender.recommend(sessions.items(event["shopper"]))
        page = diversify(recommender.catalogue, ranked)
        quality += float(values.mean())
        for item in page:
            check = (check * 31 + item) % 1_000_000_007
        latencies.append(time.perf_counter() - began)
    return latencies, check, quality


def main():
    torch.manual_seed(4)
    catalogue = Catalogue(seed=1)
    recommender = Recommender(catalogue, ShopperEncoder())
    latencies, check, quality = serve(recommender, Sessions(), events(95, seed=8))
    print(f"answered {len(latencies)} mean score {quality / len(latencies):.4f} check {check}")


if __name__ == "__main__":
    main()
