"""Answers readers at a library's desk: which shelf has the book that they describe? A thread reads the descriptions, a small
transformer ranks the shelves.

Planted: a thread of statistics goes through all loans in pure Python for 35 ms, rests for 30 and begins again; it holds the interpreter's lock.
Truth: time in which the serving thread neither computed nor waited for a CPU, as a share of the loop.
"""
import collections
import queue
import random
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, LENGTH, WIDTH, SHELVES, READERS = 3000, 24, 128, 400, 16


class Ranking(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.query = nn.ModuleList(nn.Linear(WIDTH, 3 * WIDTH) for _ in range(3))
        self.after = nn.ModuleList(nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                                 nn.Linear(4 * WIDTH, WIDTH)) for _ in range(3))
        self.shelves = nn.Linear(WIDTH, SHELVES)

    def forward(self, words):
        x = self.words(words)
        for query, after in zip(self.query, self.after):
            q, k, v = (part.unflatten(2, (4, -1)).transpose(1, 2) for part in query(x).chunk(3, 2))
            x = x + nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
            x = x + after(x)
        return self.shelves(x.mean(1))


class Statistics(threading.Thread):
    """How often is each shelf visited, on which weekday?"""

    def __init__(self):
        super().__init__(daemon=True)
        draw = random.Random(5)
        self.loans = [(draw.randrange(SHELVES), draw.randrange(7), draw.random()) for _ in range(20000)]
        self.ended = threading.Event()
        self.table = {}

    def run(self):
        while not self.ended.wait(0.03):
            until = time.thread_time() + 0.035
            while time.thread_time() < until:
                table = collections.defaultdict(float)
                for shelf, weekday, weeks in self.loans[:4000]:
                    table[shelf, weekday] += weeks
                self.table = table


def read_descriptions(requests):
    generator = torch.Generator().manual_seed(6)
    described = [torch.randint(WORDS, (READERS, LENGTH), generator=generator) for _ in range(32)]
    for number in range(10**9):
        requests.put(described[number % len(described)])


def waited_for_cpu_s():
    with open("/proc/thread-self/schedstat", encoding="ascii") as file:
        return int(file.read().split()[1]) * 1e-9


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    watch, ranking, requests = Stopwatch(), Ranking().eval(), queue.Queue(4)
    statistics = Statistics()
    threading.Thread(target=read_descriptions, args=(requests,), daemon=True).start()
    statistics.start()
    shelves = collections.Counter()
    with watch.loop():
        cpu_s, queued_s = time.thread_time(), waited_for_cpu_s()
        with torch.no_grad():
            while watch.seconds() < 6:
                best = ranking(requests.get()).topk(3).indices
                shelves.update(best[:, 0].tolist())
                watch.step()
        busy_s = time.thread_time() - cpu_s + waited_for_cpu_s() - queued_s
        loop_s = watch.seconds()
    statistics.ended.set()
    print(f"most wanted shelf {shelves.most_common(1)[0][0]}")
    watch.tell(share=max(0.0, 1 - busy_s / loop_s))


main()
