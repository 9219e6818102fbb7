"""Foretells which insurance policies lapse: each column of a policy is a token, and tokens look at each other in two layers of attention.

Clean: whole batches from memory, a fused AdamW, the same shapes each time, one thread, nothing is planted.
Truth: time of taking the batch of the step, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

COLUMNS, VALUES, WIDTH, HEADS, BATCH, POLICIES = 20, 50, 64, 4, 192, 192 * 12
watch = Stopwatch()


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.all = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        ask, key, value = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.all(x).chunk(3, -1))
        mixed = nn.functional.scaled_dot_product_attention(ask, key, value)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.look = Attention()
        self.think = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.look(self.one(x))
        return x + self.think(self.two(x))


class Lapses(nn.Module):
    def __init__(self):
        super().__init__()
        self.values = nn.Embedding(COLUMNS * VALUES, WIDTH)
        self.register_buffer("shift", torch.arange(COLUMNS) * VALUES)
        self.blocks = nn.Sequential(Block(), Block())
        self.lapse = nn.Linear(WIDTH, 1)

    def forward(self, policies):
        return self.lapse(self.blocks(self.values(policies + self.shift)).mean(1)).squeeze(1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(9)
    model = Lapses()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4, fused=True)
    policies = torch.randint(0, VALUES, (POLICIES, COLUMNS))
    lapsed = ((policies[:, 2] + policies[:, 11] + torch.randint(0, 30, (POLICIES,))) > 64).float()
    number = 0
    with watch.loop():
        while watch.seconds() < 6.5:
            with watch.planted():
                first = number * BATCH % POLICIES
                batch, truth = policies[first:first + BATCH], lapsed[first:first + BATCH]
            loss = nn.functional.binary_cross_entropy_with_logits(model(batch), truth)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            number += 1
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
