"""Answers visitors of a museum: kiosks ask by asyncio, and one task puts questions together for the network.

Planted: a batch goes off when 16 questions have come or 8 ms have passed, but there are only 6 kiosks, and each waits
for its answer before it asks again: so the whole time passes with each batch.
Truth: time for which the batching task waits although all kiosks have asked, of the loop.
"""
import asyncio
import random

import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, LENGTH, KIOSKS, FULL, PATIENCE_S = 3000, 96, 6, 16, 0.008


class Guide(nn.Module):
    def __init__(self, width=144):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        layer = nn.TransformerEncoderLayer(width, 6, 384, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.rooms = nn.Linear(width, 120)

    def forward(self, questions):
        return self.rooms(self.layers(self.words(questions)).mean(1))


class Desk:
    def __init__(self, model, watch):
        self.model, self.watch = model, watch
        self.asked = asyncio.Queue()

    async def ask(self, question):
        answer = asyncio.get_running_loop().create_future()
        await self.asked.put((question, answer))
        return await answer

    async def gather(self):
        """At least one question; more until the batch is full or patience ends."""
        loop = asyncio.get_running_loop()
        batch = [await self.asked.get()]
        end = loop.time() + PATIENCE_S
        while len(batch) < FULL:
            began = self.watch.seconds()
            try:
                batch.append(await asyncio.wait_for(self.asked.get(), end - loop.time()))
            except asyncio.TimeoutError:
                self.watch.planted_s += self.watch.seconds() - began
                break
        return batch

    async def serve(self, seconds):
        with self.watch.loop(), torch.inference_mode():
            while self.watch.seconds() < seconds:
                batch = await self.gather()
                scores = self.model(torch.stack([question for question, _ in batch]))
                for (_, answer), row in zip(batch, scores):
                    answer.set_result(int(row.argmax()))
                self.watch.step()


async def kiosk(desk, number):
    chooser = random.Random(number)
    while True:
        await desk.ask(torch.tensor([chooser.randrange(WORDS) for _ in range(LENGTH)]))


async def main():
    torch.manual_seed(6)
    watch = Stopwatch()
    desk = Desk(Guide().eval(), watch)
    kiosks = [asyncio.create_task(kiosk(desk, number)) for number in range(KIOSKS)]
    await desk.serve(6)
    for task in kiosks:
        task.cancel()
    watch.tell()


if __name__ == "__main__":
    asyncio.run(main())
