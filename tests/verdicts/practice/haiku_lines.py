"""A small transformer that learns haiku.

Planted: nothing. The text is in memory as numbers; the step is products of matrices.
Truth: time of choosing the batch, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Haiku(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(64, 192)
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(192, 4, 768, dropout=0.0, batch_first=True), 3)
        self.head = nn.Linear(192, 64)

    def forward(self, text):
        mask = nn.Transformer.generate_square_subsequent_mask(text.shape[1])
        return self.head(self.blocks(self.letters(text), mask=mask, is_causal=True))


def main():
    torch.manual_seed(15)
    watch, model = Stopwatch(), Haiku()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    poems = torch.randint(0, 64, (512, 97))
    with watch.loop():
        for number in range(10000):
            with watch.planted():
                at = number * 16 % 512
                batch = poems[at:at + 16]
            scores = model(batch[:, :-1])
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            if watch.seconds() > 6:
                break
    watch.tell()


if __name__ == "__main__":
    main()
