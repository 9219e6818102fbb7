"""Learns bird routes from two mirrors of a tracking service, one a worker.

Planted: worker 1 reads the slow mirror and needs several times as long as worker 0.
Truth: time that the loop waits for its batches, as a share of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from stopwatch import Stopwatch


class Routes(IterableDataset):
    def __iter__(self):
        mirror = torch.utils.data.get_worker_info().id
        generator = torch.Generator().manual_seed(mirror)
        while True:
            time.sleep(0.0016 if mirror else 0.0003)
            yield torch.randn(40, 8, generator=generator), torch.randn(2, generator=generator)


def main():
    torch.manual_seed(77)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Flatten(), nn.Linear(320, 900), nn.Tanh(), nn.Linear(900, 900), nn.Tanh(), nn.Linear(900, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Routes(), batch_size=16, num_workers=2)
    watch = Stopwatch()
    with watch.loop():
        for routes, ends in watch.limited(watch.batches(loader), 3.6):
            for _ in range(2):
                loss = nn.functional.huber_loss(model(routes), ends)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
