"""Completes source text with a small decoder.

Planted: nothing. Text lies in memory; attention is PyTorch's own.
Truth: time of cutting the batch out of the text, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.join = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, hidden):
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                             for part in self.project(self.before(hidden)).chunk(3, -1))
        seen = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        hidden = hidden + self.join(seen.transpose(1, 2).flatten(2))
        return hidden + self.narrow(nn.functional.gelu(self.wide(self.after(hidden))))


def main():
    torch.manual_seed(236)
    torch.set_num_threads(1)
    tokens, head = nn.Embedding(300, 256), nn.Linear(256, 300)
    model = nn.Sequential(tokens, Block(256, 4), Block(256, 4), head)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    text, watch = torch.randint(300, (100_000,)), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.6:
            with watch.planted():
                pieces = text[torch.randint(99_000, (4, 1)) + torch.arange(65)]
            loss = nn.functional.cross_entropy(model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
