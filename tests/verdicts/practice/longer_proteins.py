"""Predicts residues of proteins, at first of short pieces only.

Planted: after two fifths of the time, the pieces are twice as long.
Truth: time that later steps take more than the early ones' median, as a share of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(121)
    torch.set_num_threads(1)
    embed = nn.Embedding(24, 96)
    layer = nn.TransformerEncoderLayer(96, 4, 256, dropout=0.0, batch_first=True)
    head = nn.Linear(96, 24)
    optimizer = torch.optim.SGD([*embed.parameters(), *layer.parameters(), *head.parameters()], lr=0.01)
    watch, early = Stopwatch(), 0
    with watch.loop():
        while watch.seconds() < 3.5:
            length = 64 if watch.seconds() < 1.4 else 128
            early += length == 64
            residues = torch.randint(24, (24, length))
            hidden = residues.masked_fill(torch.rand(24, length) < 0.15, 0)
            loss = nn.functional.cross_entropy(head(layer(embed(hidden))).flatten(0, 1), residues.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    times = watch.step_times()
    usual = statistics.median(times[:early])
    watch.tell(sum(time - usual for time in times[early:]) / (watch.ended - watch.began), early=early)


if __name__ == "__main__":
    main()
