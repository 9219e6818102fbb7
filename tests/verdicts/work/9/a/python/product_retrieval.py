"""Learns product embeddings from co-views and evaluates retrieval on held-out pairs."""
import torch
import torch.nn.functional as F
from torch import nn

PRODUCTS = 6000
GROUPS = 150
TOKENS = 2500
TITLE = 10


class InfoNCE(torch.autograd.Function):
    """Symmetric contrastive loss; keeps only the two softmax matrices."""

    @staticmethod
    def forward(ctx, a, b, temperature):
        logits = a @ b.t() / temperature
        rows = logits.log_softmax(1)
        cols = logits.log_softmax(0)
        ctx.temperature = temperature
        ctx.save_for_backward(a, b, rows.exp(), cols.exp())
        return -0.5 * (rows.diagonal().mean() + cols.diagonal().mean())

    @staticmethod
    def backward(ctx, grad):
        a, b, p, q = ctx.saved_tensors
        g = p + q
        g.diagonal().sub_(2.0)
        g *= grad * 0.5 / (len(a) * ctx.temperature)
        return g @ b, g.t() @ a, None


class Encoder(nn.Module):
    def __init__(self, dim=96):
        super().__init__()
        self.words = nn.EmbeddingBag(TOKENS, dim, mode="mean")
        self.net = nn.Sequential(nn.Linear(dim, 256), nn.GELU(), nn.Linear(256, dim))

    def forward(self, titles):
        x = self.words(titles)
        return F.normalize(x + self.net(x), dim=1)


def make_catalogue(generator):
    """Titles share words within a product group; the rest is common vocabulary."""
    group = torch.randint(GROUPS, (PRODUCTS,), generator=generator)
    topical = group[:, None] * 12 + torch.randint(12, (PRODUCTS, TITLE), generator=generator)
    common = GROUPS * 12 + torch.randint(TOKENS - GROUPS * 12, (PRODUCTS, TITLE), generator=generator)
    topical_here = torch.rand(PRODUCTS, TITLE, generator=generator) < 0.35
    return group, torch.where(topical_here, topical, common)


class CoViews:
    """Draws pairs of products that were seen in the same session."""

    def __init__(self, group, generator):
        self.order = group.argsort(stable=True)
        count = torch.bincount(group, minlength=GROUPS)
        self.start = count.cumsum(0) - count
        self.count = count.clamp(min=1)
        self.group = group
        self.g = generator

    def draw(self, size):
        left = torch.randint(PRODUCTS, (size,), generator=self.g)
        which = self.group[left]
        offset = (torch.rand(size, generator=self.g) * self.count[which]).long()
        return left, self.order[self.start[which] + offset]


@torch.inference_mode()
def embed(model, titles, batch=1024):
    model.eval()
    out = torch.cat([model(t) for t in titles.split(batch)])
    model.train()
    return out


@torch.inference_mode()
def retrieval_metrics(vectors, group, k=10, block=500):
    """Recall-like precision@k and mean reciprocal rank over all products."""
    hits = torch.zeros(())
    reciprocal = torch.zeros(())
    for begin in range(0, len(vectors), block):
        end = min(begin + block, len(vectors))
        sim = vectors[begin:end] @ vectors.t()
        sim[torch.arange(end - begin), torch.arange(begin, end)] = -2.0
        top = sim.topk(k, dim=1).indices
        same = group[top] == group[begin:end, None]
        hits += same.sum()
        first = torch.where(same.any(1), same.float().argmax(1) + 1.0, torch.inf)
        reciprocal += (1.0 / first).sum()
    n = len(vectors)
    return (hits / (n * k)).item(), (reciprocal / n).item()


def train(model, titles, views, steps, batch=512):
    sparse = torch.optim.Adagrad(model.words.parameters(), lr=0.08)
    dense = torch.optim.AdamW(model.net.parameters(), lr=1e-3)
    running = torch.zeros(())
    for step in range(steps):
        left, right = views.draw(batch)
        loss = InfoNCE.apply(model(titles[left]), model(titles[right]), 0.1)
        for optimizer in (sparse, dense):
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        for optimizer in (sparse, dense):
            optimizer.step()
        running = 0.95 * running + 0.05 * loss.detach()
    return running.item()


def main():
    torch.manual_seed(17)
    generator = torch.Generator().manual_seed(18)
    group, titles = make_catalogue(generator)
    views = CoViews(group, generator)
    model = Encoder()
    for stage in range(4):
        loss = train(model, titles, views, steps=90)
        precision, mrr = retrieval_metrics(embed(model, titles), group)
        print(f"stage {stage}: loss {loss:.3f} precision@10 {precision:.3f} mrr {mrr:.3f}")


if __name__ == "__main__":
    main()
