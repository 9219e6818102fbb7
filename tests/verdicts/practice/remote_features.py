"""Recommends recipes; the features of users come from a remote store, asked with asyncio.

Planted: each step waits for the store's answers before it can begin to compute.
Truth: time of waiting for the answers, as a share of the loop.
"""
import asyncio

import torch
from torch import nn

from stopwatch import Stopwatch


class Store:
    """Answers as a server in another city does."""

    def __init__(self):
        self.table = torch.randn(4000, 256)

    async def fetch(self, users):
        await asyncio.sleep(0.012)
        return self.table[users]


async def train():
    model = nn.Sequential(nn.Linear(256, 800), nn.SiLU(), nn.Linear(800, 800), nn.SiLU(), nn.Linear(800, 64))
    recipes = nn.Embedding(2000, 64)
    optimizer = torch.optim.SGD([*model.parameters(), *recipes.parameters()], lr=0.02)
    store, watch = Store(), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            users = torch.randint(4000, (4, 48))
            with watch.planted():
                answers = await asyncio.gather(*(store.fetch(part) for part in users))
            liked = torch.randint(2000, (192,))
            scores = model(torch.cat(answers)) @ recipes(liked).T / 8
            loss = nn.functional.cross_entropy(scores, torch.arange(192))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    torch.manual_seed(209)
    torch.set_num_threads(1)
    asyncio.run(train())
