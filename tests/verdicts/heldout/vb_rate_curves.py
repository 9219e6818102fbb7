"""Finds odd curves of interest rates: a variational autoencoder of dense layers; curves come from a loader whose worker
waits for a feed of the exchange.

Decoy: the feed's delay is slept for every curve, but the worker is far ahead and the loop never waits; .item(), a save and
a line of the log are small, too.
Truth: time that the loop waits for batches, and of the save and the log, of the loop.
"""
import json
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

TENORS, BATCH, WIDTH = 120, 128, 2048


class Feed(Dataset):
    def __init__(self, delay_s=0.0001):
        self.delay_s, self.tenors = delay_s, torch.linspace(0.1, 30, TENORS)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, day):
        time.sleep(self.delay_s)
        level, slope = 1 + day % 7 / 7, day % 11 / 11
        return level + slope * torch.exp(-self.tenors / (1 + day % 5))


class Curves(nn.Module):
    def __init__(self, code=12):
        super().__init__()
        self.into = nn.Sequential(nn.Linear(TENORS, WIDTH), nn.ELU(), nn.Linear(WIDTH, WIDTH), nn.ELU(), nn.Linear(WIDTH, 2 * code))
        self.back = nn.Sequential(nn.Linear(code, WIDTH), nn.ELU(), nn.Linear(WIDTH, WIDTH), nn.ELU(), nn.Linear(WIDTH, TENORS))

    def forward(self, curve):
        mean, log_spread = self.into(curve).chunk(2, 1)
        code = mean + log_spread.exp() * torch.randn_like(mean)
        apart = (mean.square() + (2 * log_spread).exp() - 2 * log_spread - 1).sum(1).mean() / 2
        return self.back(code), apart


def main():
    torch.manual_seed(23)
    model, watch = Curves(), Stopwatch()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-4, fused=True)
    feed = iter(DataLoader(Feed(), batch_size=BATCH, num_workers=1, prefetch_factor=16))
    next(feed)
    time.sleep(0.5)  # the exchange opens
    with open("curves.log", "w", encoding="utf-8") as log, watch.loop():
        while watch.seconds() < 6.5:
            with watch.planted():
                curves = next(feed)
            again, apart = model(curves)
            loss = nn.functional.mse_loss(again, curves) + 1e-3 * apart
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            with watch.planted():
                log.write(json.dumps({"step": len(watch.marks), "loss": loss.item()}) + "\n")
                log.flush()
                if len(watch.marks) % 60 == 0:
                    torch.save(model.back[-1].state_dict(), "curves.pt")
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
