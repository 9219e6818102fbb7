"""Writes the next letters of proverbs in a creole: a transformer that sees only what came before, trained on windows of equal length.

Clean: nothing is planted; each step has as many windows, drawn from one text in memory.
Truth: nothing comes near a cause, 0.
"""
import contextlib

import torch
from torch import nn

from stopwatch import Stopwatch

try:
    from dwell import record_function
except ImportError:  # not installed here
    record_function = contextlib.nullcontext

PROVERBS = ("ti pa ti pa n a rive", "piti piti zwazo fe nich li", "men anpil chay pa lou", "deye mon gen mon", "wòch nan dlo pa konnen doule wòch nan soley",
            "bonjou se paspo ou", "sa je pa we ke pa tounen", "se met ko ki veye ko")
WINDOW, BATCH, WIDTH, HEADS = 64, 20, 112, 4


class Verse(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.more_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.join = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH)
        self.more = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, state):
        parts = self.qkv(self.norm(state)).view(BATCH, WINDOW, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
        state = state + self.join(seen.transpose(1, 2).flatten(2))
        return state + self.more(self.more_norm(state))


class Speaker(nn.Module):
    def __init__(self, letters):
        super().__init__()
        self.letter, self.place = nn.Embedding(letters, WIDTH), nn.Embedding(WINDOW, WIDTH)
        self.verses = nn.Sequential(*(Verse() for _ in range(3)))
        self.next = nn.Linear(WIDTH, letters)

    def forward(self, text):
        return self.next(self.verses(self.letter(text) + self.place.weight))


def main():
    torch.manual_seed(14)
    torch.set_num_threads(1)
    letters = sorted(set("\n".join(PROVERBS)))
    text = torch.tensor([letters.index(c) for c in "\n".join(PROVERBS * 40)])
    windows = text.unfold(0, WINDOW + 1, 1)
    watch, speaker = Stopwatch(), Speaker(len(letters))
    optimizer = torch.optim.AdamW(speaker.parameters(), lr=3e-4, fused=True)
    with watch.loop():
        for _ in watch.limited(range(100000), 6):
            said = windows[torch.randint(len(windows), (BATCH,))]
            with record_function("speak"):
                loss = nn.functional.cross_entropy(speaker(said[:, :-1]).flatten(0, 1), said[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
