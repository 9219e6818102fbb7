"""Learns to fold maps: a GRU reads a description of folds and tells how large the folded map is.

Decoy: descriptions pass a slow reader in Python whose answers are all cached, a warden's thread takes a lock now and then, gc.collect()
runs beside a frozen heap, and a mean of the weights is taken one by one each 30th step.
Truth: time of all that, of the loop.
"""
import functools
import gc
import threading

import torch
from torch import nn

from stopwatch import Stopwatch

FOLDS, LENGTH, BATCH, TEXTS = 40, 28, 64, 48


@functools.lru_cache(maxsize=None)
def read(text):
    """Numbers of the folds, with each fold's turn undone letter by letter."""
    numbers = []
    for word in text.split():
        number = 0
        for letter in word * 20:
            number = (number * 31 + ord(letter)) % FOLDS
        numbers.append(number)
    return torch.tensor(numbers).view(BATCH, LENGTH)


class Warden(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.lock, self.ended, self.rounds = threading.Lock(), threading.Event(), 0

    def run(self):
        while not self.ended.wait(0.1):
            with self.lock:
                self.rounds += 1


class Folder(nn.Module):
    def __init__(self):
        super().__init__()
        self.folds = nn.Embedding(FOLDS, 64)
        self.fold = nn.GRU(64, 128, batch_first=True)
        self.size = nn.Linear(128, 2)

    def forward(self, folds):
        return self.size(self.fold(self.folds(folds))[0].mean(1))


def main():
    torch.manual_seed(90)
    torch.set_num_threads(1)
    watch, folder, warden = Stopwatch(), Folder(), Warden()
    warden.start()
    optimizer = torch.optim.AdamW(folder.parameters(), lr=1e-3, fused=True)
    texts = [" ".join(f"fold-{(n * 13 + m * m) % 97}" for m in range(BATCH * LENGTH)) for n in range(TEXTS)]
    sizes = torch.rand(TEXTS, BATCH, 2)
    for text in texts:
        read(text)
    gc.collect()
    gc.freeze()
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            with watch.planted():
                folds = read(texts[number % TEXTS])
            loss = nn.functional.mse_loss(folder(folds), sizes[number % TEXTS])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                with warden.lock:
                    rounds = warden.rounds
                if number % 30 == 0:
                    means = [weight.mean().item() for weight in folder.parameters()]
                if number % 60 == 0:
                    gc.collect()
            watch.step()
    warden.ended.set()
    print(f"loss {loss.item():.4f}, {rounds} rounds, {len(means)} means")
    watch.tell()


main()
