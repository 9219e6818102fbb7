"""A language model of madrigals, four voices in turn, as one sequence of notes. Clean: a transformer with the usual loop.

Truth: time of cutting the batches, of the loop.
"""
import math

import torch
from torch import nn

from stopwatch import Stopwatch

NOTES, CONTEXT, BATCH, WIDTH, HEADS, LAYERS = 96, 96, 8, 192, 6, 3


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside, self.outside = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.inside(x).chunk(3, 2))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.outside(mixed.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.attention = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH), Attention()
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.feed(self.second(x))


class Madrigals(nn.Module):
    def __init__(self):
        super().__init__()
        self.notes, self.beats = nn.Embedding(NOTES, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.out = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, NOTES))

    def forward(self, notes):
        return self.out(self.layers(self.notes(notes) + self.beats.weight))


def rate(step, warm=100):
    return min((step + 1) / warm, 0.5 * (1 + math.cos(math.pi * min(step / 5000, 1))))


def main():
    torch.manual_seed(15)
    watch = Stopwatch()
    corpus = (torch.arange(200_000) * 7 // 3 % 24 + torch.randint(0, NOTES - 24, (200_000,))) % NOTES
    model = Madrigals()
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    with watch.loop():
        while watch.seconds() < 7:
            with watch.planted():
                starts = torch.randint(0, len(corpus) - CONTEXT - 1, (BATCH, 1))
                piece = corpus[starts + torch.arange(CONTEXT + 1)]
            logits = model(piece[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), piece[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            watch.step()
    print(f"loss {loss.item():.3f}, rate {schedule.get_last_lr()[0]:.5f}")
    watch.tell()


if __name__ == "__main__":
    main()
