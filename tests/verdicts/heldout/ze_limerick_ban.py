"""Writes limericks with a recurrent language model, twenty-four at a time, by sampling.

Planted: to forbid repeated word triples, the dictionary of all triples of each limerick is built anew in Python for each word.
Truth: time of building the dictionaries and of listing the forbidden words, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, WIDTH, POEMS, LENGTH, GRAM = 2500, 256, 24, 200, 3


class Poet(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.cells = nn.ModuleList(nn.GRUCell(WIDTH, WIDTH) for _ in range(3))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, word, states):
        x, kept = self.words(word), []
        for cell, state in zip(self.cells, states):
            state = cell(x, state)
            x = x + state
            kept.append(state)
        return self.head(self.norm(x)), kept


class NoRepeats:
    """What may not follow the last words of each poem."""

    def __init__(self, gram):
        self.gram = gram

    def banned(self, poems):
        lists = []
        for poem in poems:
            followers = {}
            for at in range(len(poem) - self.gram + 1):
                *start, last = poem[at:at + self.gram]
                followers.setdefault(tuple(start), []).append(last)
            lists.append(followers.get(tuple(poem[1 - self.gram:]), []))
        return lists


def choose(logits, temperature):
    best, index = torch.topk(logits / temperature, 50, dim=-1)
    picked = torch.multinomial(best.softmax(-1), 1)
    return index.gather(1, picked)[:, 0]


def main():
    torch.manual_seed(9)
    torch.set_num_threads(1)
    model, rule, watch = Poet().eval(), NoRepeats(GRAM), Stopwatch()
    written, lines = 0, []
    with torch.inference_mode(), watch.loop():
        while watch.seconds() < 6.5:
            word = torch.randint(0, WORDS, (POEMS,))
            states = [torch.zeros(POEMS, WIDTH) for _ in model.cells]
            poems = [[first] for first in word.tolist()]
            for _ in range(LENGTH):
                logits, states = model(word, states)
                with watch.planted():
                    forbidden = rule.banned(poems)
                for row, words in enumerate(forbidden):
                    if words:
                        logits[row, words] = -torch.inf
                word = choose(logits, 0.9)
                for poem, chosen in zip(poems, word.tolist()):
                    poem.append(chosen)
                written += POEMS
                watch.step()
            lines.append(poems[0][:5])
    print(f"{written} words, the last poem begins {lines[-1]}")
    watch.tell()


if __name__ == "__main__":
    main()
