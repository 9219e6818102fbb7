"""Fills a drummer's grid: what is hit in the next bars is foretold by a net of gated convolutions that look back only, trained on random grooves.

Clean: all grooves are in one tensor, batches are slices of it, fused AdamW, one thread, nothing is planted.
Truth: time of choosing the batch, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

DRUMS, STEPS, BATCH, GROOVES, WIDTH = 9, 256, 16, 800, 80
watch = Stopwatch()


class Gated(nn.Module):
    def __init__(self, reach):
        super().__init__()
        self.back = 2 * reach
        self.both = nn.Conv1d(WIDTH, 2 * WIDTH, 3, dilation=reach)

    def forward(self, x):
        value, gate = self.both(nn.functional.pad(x, (self.back, 0))).chunk(2, 1)
        return x + torch.tanh(value) * torch.sigmoid(gate)


def grooves():
    pattern = torch.rand(GROOVES, DRUMS, 16) < 0.25
    played = pattern.repeat(1, 1, STEPS // 16)
    return (played ^ (torch.rand(played.shape) < 0.03)).float()


def main():
    torch.manual_seed(16)
    torch.set_num_threads(1)
    drummer = nn.Sequential(nn.Conv1d(DRUMS, WIDTH, 1), *(Gated(reach) for reach in (1, 2, 4, 8, 16)), nn.Conv1d(WIDTH, DRUMS, 1))
    optimizer = torch.optim.AdamW(drummer.parameters(), 3e-4, fused=True)
    heard = grooves()
    at = 0
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                bars = heard[at:at + BATCH]
                at = (at + BATCH) % GROOVES
            said = drummer(bars[:, :, :-1])
            loss = nn.functional.binary_cross_entropy_with_logits(said, bars[:, :, 1:])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
