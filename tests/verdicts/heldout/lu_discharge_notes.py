"""Which ward wrote a discharge note: bags of words through a network, trained with Ignite over many short epochs, one for each clinic's day.

Planted: the loader's worker is started anew for each epoch, and makes its vocabulary anew, too (no persistent_workers).
Truth: time from the begin of an epoch's iteration to its first batch, as a share of the loop.
"""
import random

import torch
from ignite.engine import Engine, Events
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

WARDS, WORDS, LENGTH, BATCH, NOTES = 14, 9000, 40, 64, 64 * 16
STEMS = ["cardi", "hepat", "nephr", "pulmon", "derm", "neur", "oste", "gastr"]
ENDS = ["itis", "osis", "oma", "algia", "pathy", "ectomy", "ology", "gram"]
watch = Stopwatch()


def vocabulary():
    words = {}
    for number in range(WORDS * 6):
        word = STEMS[number % 8] + str(number // 64) + ENDS[number // 8 % 8]
        words[word] = hash(word) % WORDS if number % 3 else number % WORDS
    return words


class DayOfNotes(Dataset):
    words = None  # of this process

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seeds = [draw.randrange(1 << 30) for _ in range(NOTES)]

    def __len__(self):
        return NOTES

    def __getitem__(self, number):
        if DayOfNotes.words is None:
            DayOfNotes.words = list(vocabulary().values())
        draw, ward = random.Random(self.seeds[number]), number % WARDS
        numbers = [DayOfNotes.words[(draw.randrange(2000) * WARDS + ward) % len(DayOfNotes.words)] for _ in range(LENGTH // 4)]
        return torch.tensor(numbers * 4), ward


class Notes(DataLoader):
    """With a clock around its start."""

    def __iter__(self):
        with watch.planted():
            batches = super().__iter__()
            first = next(batches)
        yield first
        yield from batches


class Clerk(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.word = nn.Embedding(WORDS, width)
        self.mix = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.ward = nn.Linear(width, WARDS)

    def forward(self, note):
        return self.ward(self.mix(self.word(note)).amax(1))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(6)
    model = Clerk()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, fused=True)

    def iteration(_, batch):
        notes, ward = batch
        loss = nn.functional.cross_entropy(model(notes), ward)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(iteration)

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 6.5:
            engine.terminate()

    loader = Notes(DayOfNotes(5), batch_size=BATCH, num_workers=1, shuffle=True)
    with watch.loop():
        trainer.run(loader, max_epochs=500)
    print(f"loss {trainer.state.output:.4f} after {trainer.state.epoch} days")
    watch.tell()


main()
