"""Scores whether subtitles fit the dialogue: inference with an encoder of transformer layers, batch by batch.

Planted: nothing.
Truth: time of taking the batch and of keeping the scores, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, LENGTH, WIDTH, BATCH = 8000, 64, 256, 8


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, dropout=0.0, batch_first=True, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, words):
        return self.score(self.layers(self.words(words) + self.places)[:, 0]).squeeze(-1)


def main():
    torch.manual_seed(5)
    model = Scorer().eval()
    subtitles = torch.randint(0, WORDS, (1024, LENGTH))
    scores = torch.zeros(len(subtitles))
    watch, number = Stopwatch(), 0
    with torch.inference_mode(), watch.loop():
        while watch.seconds() < 7:
            with watch.planted():
                at = number * BATCH % len(subtitles)
                batch = subtitles[at:at + BATCH]
            said = model(batch)
            with watch.planted():
                scores[at:at + BATCH] = said
            number += 1
            watch.step()
    print(f"mean score {scores.mean().item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
