"""Trains an autoencoder on a laptop that others use, too.

Planted: each step ends with a rest, so that the fan stays quiet.
Truth: time of the rests, as a share of the loop.
"""
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def rest(share, began):
    time.sleep(min(0.05, share * (time.perf_counter() - began)))


def main():
    torch.manual_seed(117)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(900, 500), nn.ELU(), nn.Linear(500, 40), nn.ELU(), nn.Linear(40, 500), nn.ELU(), nn.Linear(500, 900))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    spectra, watch = torch.rand(4000, 900), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2 and len(watch.marks) < 400:
            began = time.perf_counter()
            batch = spectra[torch.randint(4000, (200,))]
            loss = nn.functional.mse_loss(model(batch), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                rest(0.6, began)
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
