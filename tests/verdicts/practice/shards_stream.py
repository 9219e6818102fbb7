"""Trains a text classifier on a stream of shards, one shard a worker.

Planted: the fourth worker's shard lies on a slow disk; the other three are fast enough.
Truth: time that the loop waits for the next batch.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import Stopwatch

VOCABULARY, LENGTH, BATCH = 8000, 64, 32


class Shards(IterableDataset):
    def __init__(self, per_shard):
        self.per_shard = per_shard

    def __iter__(self):
        shard = get_worker_info().id
        generator = torch.Generator().manual_seed(shard)
        read_s = 0.006 if shard == 3 else 0.0004
        for _ in range(self.per_shard):
            time.sleep(read_s)
            tokens = torch.randint(VOCABULARY, (LENGTH,), generator=generator)
            yield tokens, int(tokens[0] > VOCABULARY // 2)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 96)
        self.conv = nn.Conv1d(96, 128, 5, padding=2)
        self.out = nn.Linear(128, 2)

    def forward(self, tokens):
        hidden = self.conv(self.embedding(tokens).transpose(1, 2))
        return self.out(torch.relu(hidden).amax(2))


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Shards(BATCH * 55), batch_size=BATCH, num_workers=4)
    watch = Stopwatch()
    with watch.loop():
        for tokens, labels in watch.limited(watch.batches(loader), 12):
            loss = nn.functional.cross_entropy(model(tokens), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"{len(watch.marks)} steps, loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
