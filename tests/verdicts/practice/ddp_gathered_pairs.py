"""Aligns pictures and captions on two ranks, with the features of both as negatives.

Planted: each rank gathers 8 MB of the other's features in each step, and averages its gradients.
Truth: time of gathering and averaging, of rank 0's loop.
Run: torchrun with two processes.
"""
import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch


def main():
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(126)
    encoder = nn.Sequential(nn.Linear(256, 400), nn.ReLU(), nn.Linear(400, 400), nn.ReLU(), nn.Linear(400, 256))
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.01)
    patches = [torch.empty(512, 4096) for _ in range(ranks)]
    watch = Stopwatch()
    dist.barrier()
    with watch.loop():
        for _ in range(60):
            raw = torch.randn(512, 256) + rank
            features = nn.functional.normalize(encoder(raw), dim=1)
            with watch.planted():
                dist.all_gather(patches, features.detach().repeat(1, 16))
            others = torch.cat([each[:, :256] for each in patches])
            loss = nn.functional.cross_entropy(features @ others.T / 0.1, torch.arange(512) + 512 * rank)
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                for parameter in encoder.parameters():
                    dist.all_reduce(parameter.grad)
                    parameter.grad /= ranks
            optimizer.step()
            watch.step()
    if rank == 0:
        print(f"loss {loss.item():.3f}")
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
