"""Vectors of shopping carts by contrast: two halves of a cart are near each other, and far from carts of earlier batches.

Planted: the bank of earlier carts is put together anew with torch.cat() and cut in each step, 60 MB for 256 new rows.
Truth: time of this, of the loop.
"""
import torch
from torch import nn
from torch.nn import functional as F

from stopwatch import Stopwatch

ARTICLES, CARTS, SIZE, BANK, FAR = 3000, 256, 128, 120_000, 1024


class Cart(nn.Module):
    def __init__(self):
        super().__init__()
        self.articles = nn.EmbeddingBag(ARTICLES, 256, mode="mean")
        self.body = nn.Sequential(nn.Linear(256, 768), nn.GELU(), nn.Linear(768, 768), nn.GELU(), nn.Linear(768, SIZE))

    def forward(self, bought):
        return F.normalize(self.body(self.articles(bought)), dim=-1)


class Bank:
    def __init__(self):
        self.rows = F.normalize(torch.randn(BANK, SIZE), dim=-1)

    def push(self, new):
        self.rows = torch.cat([new, self.rows])[:BANK].contiguous()

    def draw(self, count):
        return self.rows[torch.randint(BANK, (count,))]


def info_nce(left, right, far, temperature=0.1):
    near = (left * right).sum(-1, keepdim=True)
    logits = torch.cat([near, left @ far.T], dim=1) / temperature
    return F.cross_entropy(logits, torch.zeros(len(left), dtype=torch.long))


def halves(carts):
    """The articles of a cart in two halves, by chance."""
    order = torch.rand(carts.shape).argsort(dim=1)
    mixed = carts.gather(1, order)
    return mixed.chunk(2, dim=1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    watch = Stopwatch()
    model, bank = Cart(), Bank()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    stored = torch.randint(ARTICLES, (40, CARTS, 16))
    with watch.loop():
        for carts in watch.limited((stored[i % len(stored)] for i in range(10_000)), 6):
            left, right = halves(carts)
            a, b = model(left), model(right)
            loss = info_nce(a, b, bank.draw(FAR)) + info_nce(b, a, bank.draw(FAR))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                bank.push(b.detach())
            watch.step()
    watch.tell(loss=round(loss.item(), 3))


if __name__ == "__main__":
    main()
