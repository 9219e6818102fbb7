"""Sorts letters about insurance claims by department: the letter's words and pairs of words are hashed, and the mean of their
vectors goes through dense layers. A letter has 60 hashes, the table has room for 160,000.

Planted: the table's gradient is dense, so Adam moves all of its 160,000 rows in each step, though a batch has met few of them.
Truth: time of the optimizer's step, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

ROOM, WIDTH, HASHES, DEPARTMENTS, BATCH = 160_000, 32, 60, 9, 64
watch = Stopwatch()


class Sorter(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(ROOM, WIDTH)
        self.mix = nn.GRU(WIDTH, 96, batch_first=True)
        self.department = nn.Sequential(nn.Linear(96, 128), nn.GELU(), nn.Linear(128, DEPARTMENTS))

    def forward(self, letters):
        return self.department(self.mix(self.table(letters))[0].mean(1))


def letters(number):
    """Few words are frequent, most are rare."""
    draw = torch.Generator().manual_seed(44)
    words = (torch.rand(number, HASHES, generator=draw).pow(4) * ROOM).long()
    return words, words.sum(1) % DEPARTMENTS


def main():
    torch.set_num_threads(1)
    torch.manual_seed(4)
    model = Sorter()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    words, departments = letters(30 * BATCH)
    batches = list(zip(words.split(BATCH), departments.split(BATCH)))
    number = 0
    with watch.loop():
        while watch.seconds() < 6.5:
            letter, department = batches[number % len(batches)]
            loss = nn.functional.cross_entropy(model(letter), department)
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            number += 1
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
