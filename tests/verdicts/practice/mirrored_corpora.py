"""Trains a language model on text that each worker streams from its own mirror.

Planted: the third worker's mirror answers slowly, and batches come in turns.
Truth: time that the loop waits for the loader, as a share of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import Stopwatch


class Mirrors(IterableDataset):
    answers_s = (0.002, 0.002, 0.14)

    def __iter__(self):
        mirror = get_worker_info().id
        generator = torch.Generator().manual_seed(mirror)
        for _ in range(200):
            time.sleep(self.answers_s[mirror])
            yield torch.randint(1500, (24, 33), generator=generator)


def main():
    torch.manual_seed(103)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Embedding(1500, 128), nn.Linear(128, 256), nn.GELU(), nn.Linear(256, 1500))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = DataLoader(Mirrors(), batch_size=None, num_workers=3)
    watch = Stopwatch()
    with watch.loop():
        for tokens in watch.limited(watch.batches(loader), 3.4):
            scores = model(tokens[:, :-1])
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
