"""Continues chord progressions with a transformer whose cache of keys and values was made beforehand.

Clean: nothing is planted; the tables of keys and values are written in place, and words are drawn for all songs at once.
Truth: time of drawing the chords and of keeping them, of the loop.
"""
import torch
from torch import nn
from torch.nn import functional

from stopwatch import Stopwatch

CHORDS, WIDTH, HEADS, LAYERS, SONGS, LENGTH = 480, 384, 6, 4, 48, 80


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.look, self.merge = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        shape = (SONGS, HEADS, LENGTH, WIDTH // HEADS)
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))

    def forward(self, x, place):
        query, key, value = self.look(self.before(x)).view(SONGS, 3, HEADS, 1, WIDTH // HEADS).unbind(1)
        self.keys[:, :, place] = key[:, :, 0]
        self.values[:, :, place] = value[:, :, 0]
        seen = functional.scaled_dot_product_attention(query, self.keys[:, :, :place + 1], self.values[:, :, :place + 1])
        x = x + self.merge(seen.reshape(SONGS, WIDTH))
        return x + self.narrow(functional.gelu(self.wide(self.after(x))))


class Composer(nn.Module):
    def __init__(self):
        super().__init__()
        self.chords, self.places = nn.Embedding(CHORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, CHORDS)

    def forward(self, chord, place):
        x = self.chords(chord) + self.places.weight[place]
        for layer in self.layers:
            x = layer(x, place)
        return self.head(x)


def main():
    torch.manual_seed(12)
    model, watch, kept = Composer().eval(), Stopwatch(), torch.zeros(SONGS, LENGTH, dtype=torch.long)
    songs = 0
    with torch.inference_mode(), watch.loop():
        while watch.seconds() < 6.5:
            chord = torch.randint(0, CHORDS, (SONGS,))
            for place in range(LENGTH):
                logits = model(chord, place)
                with watch.planted():
                    chord = torch.multinomial(logits.softmax(-1), 1)[:, 0]
                    kept[:, place] = chord
                watch.step()
                if watch.seconds() > 7:
                    break
            songs += SONGS
    print(f"{songs} songs, mean chord {kept.float().mean().item():.2f}")
    watch.tell()


if __name__ == "__main__":
    main()
