"""Trains a small attention model, and keeps its maps for a picture at the end.

Planted: a list keeps the attention maps of all steps, with their graphs cut.
Truth: kept bytes, of the largest memory of the process.
"""
import resource

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(112)
    torch.set_num_threads(1)
    embed, project, head = nn.Linear(32, 128), nn.Linear(128, 384), nn.Linear(128, 8)
    optimizer = torch.optim.SGD([*embed.parameters(), *project.parameters(), *head.parameters()], lr=0.01)
    watch, album = Stopwatch(), []
    with watch.loop():
        while watch.seconds() < 3.2 and len(watch.marks) < 250:
            tokens = embed(torch.randn(12, 192, 32))
            query, key, value = project(tokens).chunk(3, dim=-1)
            attention = (query @ key.transpose(1, 2) / 128 ** 0.5).softmax(-1)
            scores = head(tokens + attention @ value).mean(1)
            loss = nn.functional.cross_entropy(scores, torch.randint(8, (12,)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            album.append(attention.detach())
            watch.step()
    kept = sum(each.nbytes for each in album)
    print(f"loss {loss.item():.3f}, {len(album)} maps")
    watch.tell(kept / (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))


if __name__ == "__main__":
    main()
