"""Answers which accent a speaker has: an asyncio service with a task that listens, a task that answers, and a recurrent network.

Decoy: a queue that is always full, asyncio.sleep(0), a lock, a cache, a line of JSON for each batch and a small gc.collect(), all of a moment.
Truth: time of all that is not the network, in the task that answers, of the loop.
"""
import asyncio
import gc
import json
import os

import torch
from torch import nn

from stopwatch import Stopwatch

ACCENTS, FRAMES, BANDS, CALLS = 14, 80, 40, 32


class Accent(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.hear = nn.GRU(BANDS, width, num_layers=2, batch_first=True)
        self.name = nn.Linear(width, ACCENTS)

    def forward(self, calls):
        return self.name(self.hear(calls)[0].mean(1))


async def listen(queue, calls):
    number = 0
    while True:
        await queue.put((number, calls[number % len(calls)]))
        number += 1


async def answer(queue, model, log, watch):
    lock, cache = asyncio.Lock(), {}
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                number, calls = await queue.get()
            with torch.inference_mode():
                told = model(calls).argmax(1)
            with watch.planted():
                async with lock:
                    cache[number % 50] = told.tolist()
                log.write(json.dumps({"batch": number, "accents": cache[number % 50][:4]}) + "\n")
                log.flush()
                if number % 100 == 99:
                    gc.collect(0)
                await asyncio.sleep(0)
            watch.step()


async def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    calls = [torch.randn(CALLS, FRAMES, BANDS) for _ in range(8)]
    model, queue, watch = Accent().eval(), asyncio.Queue(6), Stopwatch()
    listener = asyncio.create_task(listen(queue, calls))
    with open(os.devnull, "w", encoding="ascii") as log:
        await answer(queue, model, log, watch)
    listener.cancel()
    watch.tell()


asyncio.run(main())
