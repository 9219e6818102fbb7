"""Mixes teas by taste: a convolutional variational network over leaf chromatograms, with a trainer that keeps a lot of books.

Decoy: the loss is taken with .item(), weights are averaged in a loop over parameters, a state is written each 30th step, each step is a
line of a log, a rate is scheduled; all of that takes a moment.
Truth: time of the average, the state, the log and the schedule, of the loop.
"""
import io
import logging

import torch
from torch import nn

from stopwatch import Stopwatch

LENGTH, BATCH = 256, 48


class Blend(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward = nn.Sequential(nn.Conv1d(1, 32, 7, 2, 3), nn.ELU(), nn.Conv1d(32, 64, 7, 2, 3), nn.ELU())
        self.taste = nn.Linear(64 * LENGTH // 4, 2 * 24)
        self.back = nn.Linear(24, 64 * LENGTH // 4)
        self.outward = nn.Sequential(nn.ELU(), nn.ConvTranspose1d(64, 32, 8, 2, 3), nn.ELU(), nn.ConvTranspose1d(32, 1, 8, 2, 3))

    def forward(self, leaves):
        mean, spread = self.taste(self.inward(leaves).flatten(1)).chunk(2, 1)
        taste = mean + torch.exp(0.5 * spread) * torch.randn_like(mean)
        drawn = self.outward(self.back(taste).view(-1, 64, LENGTH // 4))
        return drawn, 0.5 * (mean.pow(2) + spread.exp() - spread - 1).mean()


def main():
    torch.manual_seed(18)
    torch.set_num_threads(1)
    logging.basicConfig(filename="teas.log", filemode="w", level=logging.INFO)
    watch, blend, averaged = Stopwatch(), Blend(), Blend()
    averaged.load_state_dict(blend.state_dict())
    optimizer = torch.optim.Adam(blend.parameters(), lr=1e-3, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + 0.001 * step))
    leaves = torch.rand(16, 30, BATCH, 1, LENGTH).mean(1)  # thirty pressings of each
    losses, state = [], io.BytesIO()
    with watch.loop():
        while watch.seconds() < 6:
            batch = leaves[len(watch.marks) % 16]
            drawn, apart = blend(batch)
            loss = nn.functional.mse_loss(drawn, batch) + 0.01 * apart
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                if len(watch.marks) % 4 == 0:
                    with torch.no_grad():
                        for slow, fast in zip(averaged.parameters(), blend.parameters()):
                            slow.lerp_(fast, 0.01)
                if len(watch.marks) % 30 == 0:
                    state.seek(0)
                    torch.save(averaged.state_dict(), state)
                losses.append(loss.item())
                logging.info("%d %.5f", len(losses), losses[-1])
                schedule.step()
            watch.step()
    print(f"loss {losses[-1]:.4f}, a state of {state.tell() >> 10} KiB")
    watch.tell()


main()
