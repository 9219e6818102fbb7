"""Fine-tunes a transformer of three layers; accumulates two small batches for a step.

Planted: nothing.
Truth: time of drawing batches and logging, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Encoder(nn.Module):
    def __init__(self, vocabulary=5000, width=128, layers=3):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(96, width)
        layer = nn.TransformerEncoderLayer(width, 4, 384, dropout=0.1, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.classifier = nn.Linear(width, 3)

    def forward(self, tokens):
        hidden = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.classifier(self.layers(hidden)[:, 0])


def main():
    torch.manual_seed(26)
    model = Encoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=True)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))
    corpus, labels = torch.randint(5000, (1000, 64)), torch.randint(3, (1000,))
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 10:
            for _ in range(2):
                with watch.planted():
                    chosen = torch.randint(1000, (8,))
                    batch, target = corpus[chosen], labels[chosen]
                loss = nn.functional.cross_entropy(model(batch), target) / 2
                loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            watch.step()
            with watch.planted():
                if len(watch.marks) % 20 == 0:
                    print(f"step {len(watch.marks)} loss {2 * loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
