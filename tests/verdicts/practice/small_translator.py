"""Translates signs of a made-up language with a small transformer.

Planted: nothing.
Truth: time of the optimizer, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(59)
    torch.set_num_threads(1)
    table, head = nn.Embedding(500, 160), nn.Linear(160, 500)
    layer = nn.TransformerEncoderLayer(160, 4, 480, batch_first=True, dropout=0.0)
    model = nn.Sequential(table, nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), head)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    signs, watch = torch.randint(500, (24, 48)), Stopwatch()
    with watch.loop():
        while watch.seconds() < 5:
            scores = model(signs[:, :-1])
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), signs[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
