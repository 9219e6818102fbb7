"""Learns dependency trees while a corpus of Python objects lies in memory; memory was short once.

Planted: a helper collects garbage after every twentieth batch, over all objects of the corpus.
Truth: time between the collector's start and end, as a share of the loop.
"""
import gc
import time

import torch
from torch import nn

from stopwatch import Stopwatch


class Word:
    __slots__ = ("form", "head", "children")

    def __init__(self, form, head):
        self.form, self.head, self.children = form, head, []
        if head:
            head.children.append(self)


def make_corpus(sentences):
    corpus = []
    for number in range(sentences):
        words = [Word(number % 500, None)]
        for place in range(1, 16):
            words.append(Word((number * 7 + place) % 500, words[place // 2]))
        corpus.append(words)
    return corpus


def free_memory():
    gc.collect()


def main():
    torch.manual_seed(51)
    torch.set_num_threads(1)
    corpus, watch, collected = make_corpus(4000), Stopwatch(), []

    def note(phase, _info):
        collected.append(time.perf_counter() * (-1 if phase == "start" else 1))
    embedding, encoder = nn.Embedding(500, 96), nn.GRU(96, 128, batch_first=True)
    heads = nn.Linear(128, 128)
    optimizer = torch.optim.SGD([*embedding.parameters(), *encoder.parameters(), *heads.parameters()], lr=0.01)
    with watch.loop():
        gc.callbacks.append(note)
        while watch.seconds() < 3:
            first = 48 * len(watch.marks) % 3900
            sentences = corpus[first:first + 48]
            forms = torch.tensor([[word.form for word in words] for words in sentences])
            hidden, _ = encoder(embedding(forms))
            scores = (heads(hidden[:, 1:]) * hidden[:, [place // 2 for place in range(1, 16)]]).sum(2)
            loss = nn.functional.softplus(-scores).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if len(watch.marks) % 20 == 19:
                free_memory()
            watch.step()
        gc.callbacks.remove(note)
    print(f"loss {loss.item():.3f}")
    watch.tell(sum(collected) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
