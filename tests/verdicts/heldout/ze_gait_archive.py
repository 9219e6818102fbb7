"""Looks for new ways of walking: novelty search over the weights of a legged robot's controllers.

Planted: all gaits that were ever seen stay in a list, and each generation stacks it and measures the distance to each of them.
Truth: time of stacking the archive and of the distances, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

WALKERS, JOINTS, UNITS, TICKS, NEAREST = 96, 12, 64, 50, 15


class Herd(nn.Module):
    """All controllers of a generation walk at the same time; the result is each one's gait: its joints at some ticks."""

    def __init__(self):
        super().__init__()
        self.register_buffer("legs", torch.randn(JOINTS, JOINTS) * 0.2)

    def forward(self, into, out):
        state, gait = torch.zeros(WALKERS, 1, JOINTS), []
        for tick in range(TICKS):
            rhythm = torch.sin(torch.arange(JOINTS) * 0.5 + tick * 0.3)
            push = torch.tanh(torch.bmm(torch.tanh(torch.bmm(state + rhythm, into)), out))
            state = 0.8 * state + 0.3 * push + 0.1 * torch.tanh(state @ self.legs)
            if tick % 5 == 4:
                gait.append(state[:, 0])
        return torch.cat(gait, dim=1)


class Archive:
    def __init__(self):
        self.gaits = []

    def novelty(self, gaits):
        everything = torch.stack(self.gaits + list(gaits))
        nearest = torch.cdist(gaits, everything).topk(NEAREST, largest=False).values
        return nearest.mean(1)

    def keep(self, gaits):
        self.gaits.extend(gait.clone() for gait in gaits)


def breed(weights, parents, width):
    return weights[parents] + width * torch.randn_like(weights)


def main():
    torch.manual_seed(6)
    torch.set_num_threads(1)
    herd, archive, watch = Herd(), Archive(), Stopwatch()
    into, out = torch.randn(WALKERS, JOINTS, UNITS) * 0.3, torch.randn(WALKERS, UNITS, JOINTS) * 0.3
    with torch.inference_mode(), watch.loop():
        while watch.seconds() < 7:
            gaits = herd(into, out)
            with watch.planted():
                novelty = archive.novelty(gaits)
            archive.keep(gaits[novelty.topk(WALKERS // 12).indices])
            best = novelty.topk(WALKERS // 4).indices
            parents = best[torch.randint(0, len(best), (WALKERS,))]
            into, out = breed(into, parents, 0.05), breed(out, parents, 0.05)
            watch.step()
    print(f"{len(archive.gaits)} gaits, novelty {novelty.mean().item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
