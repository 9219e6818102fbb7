"""Imitates drivers; the next drive is fetched by an executor while the loop trains on the current one.

Planted: fetching a drive takes longer than training on it, so that the loop waits for the future's result.
Truth: time of waiting for the result, as a share of the loop.
"""
import time
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

from stopwatch import Stopwatch


def fetch(number):
    time.sleep(0.038)  # from a bucket
    generator = torch.Generator().manual_seed(number)
    return torch.randn(256, 480, generator=generator), torch.randn(256, 2, generator=generator)


def main():
    torch.manual_seed(210)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(480, 640), nn.Tanh(), nn.Linear(640, 320), nn.Tanh(), nn.Linear(320, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    watch = Stopwatch()
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(fetch, 0)
        with watch.loop():
            while watch.seconds() < 3.2:
                with watch.planted():
                    seen, steering = future.result()
                future = executor.submit(fetch, len(watch.marks) + 1)
                loss = nn.functional.mse_loss(model(seen), steering)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
