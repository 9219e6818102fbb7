"""Trains a document classifier with DistributedDataParallel on two ranks.

Planted: rank 1 has the long documents. It normalises and counts their words in Python before its forward
pass, and rank 0 waits for it in the backward pass.
Truth: how much longer rank 1 takes for its documents than rank 0, as a share of the loop.
Run: torchrun with two processes.
"""
import random

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from stopwatch import Stopwatch

BUCKETS = 4096


def make_documents(rng, words):
    return [" ".join(f"w{rng.randrange(9000)}" for _ in range(words)) for _ in range(64)]


def count_words(documents):
    counts = torch.zeros(len(documents), BUCKETS)
    for row, document in enumerate(documents):
        bag = {}
        for word in document.lower().split():
            bucket = sum(ord(letter) * 31 ** place for place, letter in enumerate(word)) % BUCKETS
            bag[bucket] = bag.get(bucket, 0) + 1
        counts[row, list(bag)] = torch.tensor(list(bag.values()), dtype=torch.float32)
    return counts


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    torch.manual_seed(17)
    documents = make_documents(random.Random(rank), 600 if rank == 1 else 20)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(BUCKETS, 160), nn.ReLU(), nn.Linear(160, 8)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch = Stopwatch()
    dist.barrier()
    with watch.loop():
        for step in range(90):
            with watch.planted():
                counts = count_words(documents)
            loss = nn.functional.cross_entropy(model(counts), torch.arange(64) % 8)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    took = torch.tensor([watch.planted_s if rank == each else 0.0 for each in range(2)])
    dist.all_reduce(took)
    if rank == 0:
        print(f"loss {loss.item():.4f} after {step + 1} steps")
        watch.tell(float(took[1] - took[0]) / (watch.ended - watch.began))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
