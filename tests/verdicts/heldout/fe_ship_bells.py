"""Two ranks learn with gloo to transcribe the bells of ships: each has its share of recordings, and the gradients are averaged.

Planted: the recordings are sorted by length before they are divided, so the second rank has the long ones and the first waits for it.
Truth: time of the first rank in the average of the gradients, of the loop.
"""
import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

BANDS, STROKES, BATCH = 40, 9, 24


class Transcriber(nn.Module):
    def __init__(self):
        super().__init__()
        self.listen = nn.Sequential(nn.Conv1d(BANDS, 96, 7, padding=3), nn.GELU(), nn.Conv1d(96, 96, 7, padding=3), nn.GELU(),
                                    nn.Conv1d(96, 96, 7, padding=3), nn.GELU())
        self.strokes = nn.Linear(96, STROKES)

    def forward(self, recording):
        return self.strokes(self.listen(recording).mean(2))


def divided(rank, ranks):
    """This rank's batches."""
    generator = torch.Generator().manual_seed(80)
    lengths = sorted(torch.randint(60, 300, (16,), generator=generator).tolist())
    each = len(lengths) // ranks
    return [(torch.randn(BATCH, BANDS, length, generator=generator), torch.randint(STROKES, (BATCH,), generator=generator))
            for length in lengths[rank * each:(rank + 1) * each]]


def average(model, older):
    """The gradients of all ranks, and whether one of them is so old that all end."""
    flat = torch.cat([weight.grad.flatten() for weight in model.parameters()] + [torch.tensor([float(older)])])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    at = 0
    for weight in model.parameters():
        weight.grad.copy_(flat[at:at + weight.numel()].view_as(weight))
        at += weight.numel()
    return flat[-1].item() > 0


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(81)
    torch.set_num_threads(1)
    watch, model = Stopwatch(), Transcriber()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    batches = divided(rank, dist.get_world_size())
    dist.barrier()
    ends, number = False, 0
    with watch.loop():
        while not ends:
            recording, strokes = batches[number % len(batches)]
            loss = nn.functional.cross_entropy(model(recording), strokes)
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                ends = average(model, watch.seconds() > 6)
            optimizer.step()
            number += 1
            watch.step()
    if rank == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.barrier()
    dist.destroy_process_group()


main()
