"""Averages a model over clients: each round trains on the few batches of one client.

Planted: each round makes a DataLoader whose worker starts, and reads the client's archive, for eight batches.
Truth: time of the first batch of each round, less that of a usual batch, as a share of the loop.
"""
import statistics
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Client(Dataset):
    def __init__(self, number):
        self.number, self.archive = number, None

    def __len__(self):
        return 8 * 48

    def __getitem__(self, index):
        if self.archive is None:
            generator = torch.Generator().manual_seed(self.number)
            self.archive = torch.randn(400, 8192, generator=generator).cumsum(1)[:, ::8]
        return self.archive[index], index % 10


def main():
    torch.manual_seed(104)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.LayerNorm(1024), nn.Linear(1024, 900), nn.ReLU(), nn.Linear(900, 600), nn.ReLU(), nn.Linear(600, 10))
    average = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch, firsts, others, client = Stopwatch(), [], [], 0
    with watch.loop():
        while watch.seconds() < 3.2:
            client += 1
            began, waits = time.perf_counter(), firsts
            for rows, kinds in DataLoader(Client(client), batch_size=48, num_workers=1):
                waits.append(time.perf_counter() - began)
                for _ in range(2):
                    loss = nn.functional.cross_entropy(model(rows), kinds)
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                watch.step()
                began, waits = time.perf_counter(), others
            with torch.no_grad():
                torch._foreach_lerp_(average, list(model.parameters()), 0.1)
    print(f"loss {loss.item():.3f}")
    watch.tell((sum(firsts) - len(firsts) * statistics.median(others)) / (watch.ended - watch.began), clients=client)


if __name__ == "__main__":
    main()
