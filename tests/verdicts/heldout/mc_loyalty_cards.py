"""What a holder of a loyalty card buys next: bags of article vectors, a dense network, and a softmax over departments.

Decoy: a thread that makes batches far ahead, a lock around the counts, .item() in each step, a flushed line, a sorted top list and a short nap, all of a moment.
Truth: time of all these, waits for the queue included, of the loop.
"""
import queue
import tempfile
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

ARTICLES, DEPARTMENTS, HOLDERS, BOUGHT = 20_000, 400, 1024, 20


class Till(threading.Thread):
    """Has a few hundred batches ready and hands them out again and again."""

    def __init__(self):
        super().__init__(daemon=True)
        self.ready, self.over = queue.Queue(maxsize=32), False
        noise = torch.Generator().manual_seed(1)
        self.batches = [(torch.randint(ARTICLES, (HOLDERS, BOUGHT), generator=noise), torch.randint(DEPARTMENTS, (HOLDERS,), generator=noise))
                        for _ in range(24)]

    def run(self):
        number = 0
        while not self.over:
            try:
                self.ready.put(self.batches[number % len(self.batches)], timeout=0.2)
                number += 1
            except queue.Full:
                pass


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(ARTICLES, 64, mode="sum", sparse=True) for _ in range(2))
        self.body = nn.Sequential(nn.Linear(128, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, DEPARTMENTS))

    def forward(self, bought):
        return self.body(torch.cat([bag(bought) for bag in self.bags], dim=1))


def main():
    torch.manual_seed(2)
    watch, till, model = Stopwatch(), Till(), Holder()
    dense = torch.optim.SGD(model.body.parameters(), lr=1e-2, momentum=0.9)
    sparse = torch.optim.SGD(model.bags.parameters(), lr=1e-2)
    till.start()
    time.sleep(0.3)
    seen, lock = {}, threading.Lock()
    with tempfile.TemporaryFile("w+") as diary, watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                bought, department = till.ready.get()
            loss = nn.functional.cross_entropy(model(bought), department)
            dense.zero_grad()
            sparse.zero_grad()
            loss.backward()
            dense.step()
            sparse.step()
            with watch.planted():
                with lock:
                    first = department[0].item()
                    seen[first] = seen.get(first, 0) + 1
                if len(watch.marks) % 10 == 0:
                    print(len(watch.marks), loss.item(), sorted(seen, key=seen.get)[-3:], file=diary, flush=True)
                    time.sleep(0.001)
            watch.step()
    till.over = True
    watch.tell()


if __name__ == "__main__":
    main()
