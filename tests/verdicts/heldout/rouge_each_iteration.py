"""Rewrites weather bulletins into short ones, with Ignite.

Planted: ROUGE-L is attached to the trainer, so each iteration searches the longest common subsequence of 64 pairs in Python.
Truth: time of turning the output into words and of the metric's update, of the loop.
"""
import torch
from ignite.engine import Engine, Events
from ignite.metrics import RougeL
from torch import nn

from stopwatch import Stopwatch

WORDS, TOKENS, BATCH, WIDTH = 400, 32, 64, 80
WATCH = Stopwatch()
DICTIONARY = [f"{first}{second}" for first in ("rain", "sun", "fog", "wind", "snow", "hail", "calm", "frost", "dew", "gale")
              for second in ("",) + tuple(f"-{number}" for number in range(39))]


class Rewriter(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Parameter(0.1 * torch.randn(TOKENS, WIDTH))
        self.encoder = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.out = nn.Linear(WIDTH, WORDS)

    def forward(self, bulletin):
        return self.out(self.encoder(self.words(bulletin) + self.places))


class Agreement(RougeL):
    """ROUGE-L of what the model would say now."""

    def update(self, output):
        with WATCH.planted():
            scores, wanted = output
            said = [[DICTIONARY[word] for word in line] for line in scores.argmax(2).tolist()]
            reference = [[[DICTIONARY[word] for word in line]] for line in wanted.tolist()]
            super().update((said, reference))


def bulletins(count=20):
    """Long sentences, and the same with each word in its plain form."""
    for _ in range(count):
        long = torch.randint(0, WORDS, (BATCH, TOKENS))
        yield long, long // 40 * 40


def main():
    torch.manual_seed(33)
    model = Rewriter()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()

    def update(engine, batch):
        model.train()
        long, short = batch
        optimizer.zero_grad()
        scores = model(long)
        loss = criterion(scores.flatten(0, 1), short.flatten())
        loss.backward()
        optimizer.step()
        engine.state.loss = loss.item()
        return scores.detach(), short

    trainer = Engine(update)
    Agreement(multiref="best").attach(trainer, "rouge")

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        WATCH.step()
        if WATCH.seconds() > 6:
            engine.terminate()

    @trainer.on(Events.EPOCH_COMPLETED)
    def tell(engine):
        print(f"epoch {engine.state.epoch}: loss {engine.state.loss:.3f}, ROUGE-L {engine.state.metrics['Rouge-L-F']:.3f}")

    with WATCH.loop():
        trainer.run(list(bulletins()), max_epochs=1000)
    WATCH.tell()


if __name__ == "__main__":
    main()
