"""Trains a tagger of sentences with DistributedDataParallel on two ranks, each with a corpus of its own.

Planted: the sentences of rank 1 are three times longer, and rank 0 waits for it in the backward pass.
Truth: by how much rank 1's forward pass is longer, as a share of the loop; its backward pass is longer as well.
Run: torchrun with two processes.
"""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from stopwatch import Stopwatch


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(2000, 96)
        self.body = nn.Sequential(nn.Linear(96, 320), nn.ReLU(), nn.Linear(320, 320), nn.ReLU(), nn.Linear(320, 17))

    def forward(self, words):
        return self.body(self.words(words))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    torch.manual_seed(231 + rank)
    model = DistributedDataParallel(Tagger())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    length, watch = 60 if rank == 1 else 20, Stopwatch()
    dist.barrier()
    with watch.loop():
        for _ in range(80):
            words = torch.randint(2000, (48, length))
            with watch.planted():
                tags = model(words)
            loss = nn.functional.cross_entropy(tags.flatten(0, 1), words.flatten() % 17)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    forward = torch.zeros(2)
    forward[rank] = watch.planted_s
    dist.all_reduce(forward)
    if rank == 0:
        print(f"loss {loss.item():.3f}")
        watch.tell((forward[1] - forward[0]).item() / (watch.ended - watch.began))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
