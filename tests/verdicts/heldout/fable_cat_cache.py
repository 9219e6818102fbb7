"""Tells fables: a decoder writes word after word, with the keys and values of all words before in a cache.

Planted: each layer appends to its cache with torch.cat(), which copies all of it for each word.
Truth: time of torch.cat(), of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, WIDTH, HEADS, LAYERS, BEAMS, LONGEST = 16000, 256, 8, 4, 4, 900


class Layer(nn.Module):
    def __init__(self, watch):
        super().__init__()
        self.watch = watch
        self.norm, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.project, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mix = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.keys = self.values = None

    def forget(self, prompt):
        self.keys = torch.randn(BEAMS, HEADS, prompt, WIDTH // HEADS)
        self.values = torch.randn(BEAMS, HEADS, prompt, WIDTH // HEADS)

    def forward(self, x):
        query, key, value = self.project(self.norm(x)).view(BEAMS, 1, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        with self.watch.planted():
            self.keys = torch.cat([self.keys, key], 2)
            self.values = torch.cat([self.values, value], 2)
        seen = nn.functional.scaled_dot_product_attention(query, self.keys, self.values)
        x = x + self.out(seen.transpose(1, 2).reshape(BEAMS, 1, WIDTH))
        return x + self.mix(self.after(x))


class Narrator(nn.Module):
    def __init__(self, watch):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer(watch) for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def begin(self, prompt):
        for layer in self.layers:
            layer.forget(prompt)

    def forward(self, word):
        x = self.words(word)[:, None]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))[:, 0]


@torch.inference_mode()
def main():
    torch.manual_seed(6)
    watch = Stopwatch()
    narrator = Narrator(watch).eval()
    written, fables = LONGEST, 0
    word = torch.zeros(BEAMS, dtype=torch.long)
    with watch.loop():
        while watch.seconds() < 6.5:
            if written == LONGEST:
                narrator.begin(400)  # the moral, and examples
                written, fables = 400, fables + 1
            scores = narrator(word) / 0.8
            word = torch.multinomial(scores.softmax(1), 1)[:, 0]
            written += 1
            watch.step()
    print(f"{fables} fables")
    watch.tell()


if __name__ == "__main__":
    main()
