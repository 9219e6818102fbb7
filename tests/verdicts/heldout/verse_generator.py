"""Writes verses token by token with a window of 1,536 tokens.

Planted: the caches of keys and values are moved on by torch.cat(), a copy of all of them in each layer for each token.
Truth: time of the copies, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

WIDTH, HEADS, LAYERS, VOCABULARY, WINDOW, VERSES = 512, 8, 6, 4000, 1536, 3
WATCH = Stopwatch()


class Window:
    """Keys and values of the last tokens, for one layer."""

    def __init__(self):
        self.keys = self.values = None

    def extend(self, keys, values):
        if self.keys is None:
            self.keys, self.values = keys, values
        else:
            with WATCH.planted():
                self.keys = torch.cat([self.keys[:, :, 1:], keys], 2)
                self.values = torch.cat([self.values[:, :, 1:], values], 2)
        return self.keys, self.values


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.project, self.join = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.widen = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x, window):
        verses, tokens, _ = x.shape
        parts = self.project(self.before(x)).view(verses, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        keys, values = window.extend(key, value)
        seen = nn.functional.scaled_dot_product_attention(query, keys, values, is_causal=tokens > 1)
        x = x + self.join(seen.transpose(1, 2).reshape(verses, tokens, WIDTH))
        return x + self.widen(self.between(x))


class Poet(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.next = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, windows):
        x = self.words(tokens)
        for layer, window in zip(self.layers, windows):
            x = layer(x, window)
        return self.next(self.norm(x[:, -1]))


def choose(scores, temperature=0.9, best=40):
    values, numbers = (scores / temperature).topk(best)
    drawn = torch.multinomial(values.softmax(-1), 1)
    return numbers.gather(1, drawn)


def main():
    torch.manual_seed(24)
    model = Poet().eval()
    windows = [Window() for _ in range(LAYERS)]
    with torch.inference_mode():
        prompt = torch.randint(0, VOCABULARY, (VERSES, WINDOW))
        token = choose(model(prompt, windows))
        written = [token]
        with WATCH.loop():
            while WATCH.seconds() < 6:
                token = choose(model(token, windows))
                written.append(token)
                WATCH.step()
    print(f"{len(written)} tokens; the last ones: {torch.cat(written[-6:], 1).tolist()}")
    WATCH.tell()


if __name__ == "__main__":
    main()
