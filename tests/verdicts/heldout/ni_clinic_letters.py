"""Sorts letters to a clinic by ward: wards' clerks send them by asyncio, one task answers in batches.

Planted: letters are cut into pieces by byte pairs in plain Python, merge by merge, within the task that answers.
Truth: time of cutting, of the loop.
"""
import asyncio
import random
import string

import torch
from torch import nn

from stopwatch import Stopwatch

LENGTH, CLERKS, BATCH, PIECES = 64, 12, 6, 900


class Cutter:
    """Byte-pair encoding; the merges are made up, in the order of their rank."""

    def __init__(self, seed):
        chooser = random.Random(seed)
        parts = list(string.ascii_lowercase)
        self.ranks, self.numbers = {}, {part: i for i, part in enumerate(parts)}
        while len(self.numbers) < PIECES:
            pair = chooser.choice(parts), chooser.choice(parts)
            if len(pair[0] + pair[1]) < 6 and pair not in self.ranks:
                self.ranks[pair] = len(self.ranks)
                parts.append(pair[0] + pair[1])
                self.numbers.setdefault(pair[0] + pair[1], len(self.numbers))

    def word(self, word):
        parts = list(word)
        while len(parts) > 1:
            rank, at = min((self.ranks.get(pair, 1 << 30), i) for i, pair in enumerate(zip(parts, parts[1:])))
            if rank == 1 << 30:
                break
            parts[at:at + 2] = [parts[at] + parts[at + 1]]
        return [self.numbers[part] for part in parts]

    def __call__(self, text):
        pieces = [number for word in text.split() for number in self.word(word)][:LENGTH]
        return pieces + [0] * (LENGTH - len(pieces))


class Wards(nn.Module):
    def __init__(self, width=128, wards=17):
        super().__init__()
        self.pieces = nn.Embedding(PIECES + 40, width)
        self.places = nn.Parameter(torch.randn(LENGTH, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 320, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.ward = nn.Linear(width, wards)

    def forward(self, pieces):
        return self.ward(self.layers(self.pieces(pieces) + self.places).mean(1))


class Office:
    def __init__(self, watch):
        self.cutter, self.model, self.watch = Cutter(3), Wards().eval(), watch
        self.inbox = asyncio.Queue()

    async def ask(self, letter):
        answer = asyncio.get_running_loop().create_future()
        self.inbox.put_nowait((letter, answer))
        return await answer

    def encode(self, letters):
        with self.watch.planted():
            return torch.tensor([self.cutter(letter) for letter in letters])

    async def answer_all(self, seconds):
        with self.watch.loop(), torch.inference_mode():
            while self.watch.seconds() < seconds:
                batch = [await self.inbox.get() for _ in range(BATCH)]
                wards = self.model(self.encode([letter for letter, _ in batch])).argmax(1).tolist()
                for (_, answer), ward in zip(batch, wards):
                    answer.set_result(ward)
                self.watch.step()


async def clerk(office, number):
    chooser = random.Random(number)
    pile = ["".join(chooser.choice(string.ascii_lowercase + "     ") for _ in range(1100)) for _ in range(30)]
    while True:
        await office.ask(chooser.choice(pile))


async def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    watch = Stopwatch()
    office = Office(watch)
    clerks = [asyncio.create_task(clerk(office, number)) for number in range(CLERKS)]
    await office.answer_all(6)
    for task in clerks:
        task.cancel()
    watch.tell()


if __name__ == "__main__":
    asyncio.run(main())
