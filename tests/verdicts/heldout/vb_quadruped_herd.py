"""A herd of four-legged robots learns to trot without gradients: the cross-entropy method over recurrent policies, all
candidates of a generation rolled out together as batched products.

Clean: the same number of candidates and ticks in each generation, no copy that is not needed, nothing planted.
Truth: time of choosing the elite and refitting the distribution, of the loop.
"""
import math

import torch
from torch import nn

from stopwatch import Stopwatch

HERD, SENSES, HIDDEN, JOINTS, TICKS, ELITE = 256, 24, 96, 8, 64, 32
SIZES = HIDDEN * SENSES, HIDDEN * HIDDEN, JOINTS * HIDDEN


class Herd(nn.Module):
    """Rolls out one policy for each row of genes; returns how far each one came."""

    def __init__(self):
        super().__init__()
        self.register_buffer("feel", torch.randn(JOINTS, SENSES) / math.sqrt(JOINTS))
        self.register_buffer("beat", torch.sin(torch.arange(TICKS).view(-1, 1) * torch.linspace(0.1, 0.9, SENSES)))

    @torch.inference_mode()
    def forward(self, genes):
        sense, think, act = genes.split(SIZES, 1)
        sense, think, act = sense.view(HERD, HIDDEN, SENSES), think.view(HERD, HIDDEN, HIDDEN), act.view(HERD, JOINTS, HIDDEN)
        hidden, angles, way = torch.zeros(HERD, HIDDEN, 1), torch.zeros(HERD, JOINTS), torch.zeros(HERD)
        for beat in self.beat:
            felt = torch.sin(angles @ self.feel + beat).unsqueeze(2)
            hidden = torch.tanh(torch.baddbmm(torch.bmm(sense, felt), think, hidden))
            force = torch.tanh(torch.bmm(act, hidden)).squeeze(2)
            angles = 0.8 * angles + 0.5 * force
            way = way + (angles[:, ::2] - angles[:, 1::2]).sum(1) - 0.05 * force.square().sum(1)
        return way


def main():
    torch.manual_seed(13)
    herd, watch = Herd(), Stopwatch()
    mean, spread = torch.zeros(sum(SIZES)), torch.full((sum(SIZES),), 0.15)
    genes, best = torch.empty(HERD, sum(SIZES)), 0.0
    with watch.loop():
        while watch.seconds() < 6.5:
            torch.normal(0.0, 1.0, genes.shape, out=genes)
            genes.mul_(spread).add_(mean)
            way = herd(genes)
            with watch.planted():
                elite = genes[way.topk(ELITE).indices]
                mean.lerp_(elite.mean(0), 0.5)
                spread.lerp_(elite.std(0), 0.2).clamp_(min=0.1)
                best = max(best, way.max().item())
            watch.step()
    print(f"best {best:.2f}")
    watch.tell()


if __name__ == "__main__":
    main()
