"""Drafts machine-readable delivery notes: a language model whose tokens must follow a grammar.

Planted: for each token, each word of the vocabulary is tried against the grammar's automaton, letter by letter in Python.
Truth: time of making the mask of allowed tokens, of the loop.
"""
import itertools

import torch
from torch import nn

from stopwatch import Stopwatch

WIDTH, WINDOW, DRAFTS = 192, 64, 4

# state -> {kind of letter: next state}
GRAMMAR = {
    "value": {"quote": "text", "digit": "number", "open": "key"},
    "key": {"quote": "text", "digit": "number", "close": "end"},
    "text": {"letter": "text", "digit": "text", "quote": "end"},
    "number": {"digit": "number", "comma": "value", "close": "end"},
    "end": {"comma": "key", "close": "end", "open": "key"},
}


def kind_of(letter):
    return {"\"": "quote", "{": "open", "}": "close", ",": "comma"}.get(letter) or ("digit" if letter.isdigit() else "letter")


def make_vocabulary():
    marks = ["\"", "{", "}", ",", "\",", "},", "{\"", "\"}"]
    numbers = [str(number) for number in range(120)]
    words = ["".join(letters) for letters in itertools.product("abcdefghilmnoprstu", repeat=3)]
    return (marks + numbers + words)[:2000]


class Grammar:
    def __init__(self, vocabulary):
        self.vocabulary = vocabulary

    def after(self, state, word):
        for letter in word:
            state = GRAMMAR[state].get(kind_of(letter))
            if state is None:
                return None
        return state

    def mask(self, state):
        return torch.tensor([self.after(state, word) is not None for word in self.vocabulary])


class Drafter(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.embed = nn.Embedding(words, WIDTH)
        self.place = nn.Parameter(torch.randn(WINDOW, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(WIDTH, 6, 4 * WIDTH, batch_first=True, dropout=0.0)
        self.layers = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.out = nn.Linear(WIDTH, words)

    def forward(self, tokens):
        size = tokens.shape[1]
        causal = nn.Transformer.generate_square_subsequent_mask(size)
        return self.out(self.layers(self.embed(tokens) + self.place[:size], mask=causal, is_causal=True)[:, -1])


@torch.inference_mode()
def main():
    torch.manual_seed(3)
    watch = Stopwatch()
    vocabulary = make_vocabulary()
    grammar = Grammar(vocabulary)
    model = Drafter(len(vocabulary)).eval()
    tokens = torch.zeros(DRAFTS, 1, dtype=torch.long)
    states = ["value"] * DRAFTS
    with watch.loop():
        while watch.seconds() < 7:
            logits = model(tokens[:, -WINDOW:])
            with watch.planted():
                allowed = torch.stack([grammar.mask(state) for state in states])
            chances = logits.masked_fill(~allowed, float("-inf")).softmax(1)
            chosen = torch.multinomial(chances, 1)
            states = [grammar.after(state, vocabulary[token]) for state, token in zip(states, chosen.flatten().tolist())]
            tokens = torch.cat([tokens, chosen], 1)
            watch.step()
    print("".join(vocabulary[token] for token in tokens[0, :60].tolist()))
    watch.tell()


if __name__ == "__main__":
    main()
