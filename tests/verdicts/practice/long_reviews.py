"""Classifies reviews; a batch is as long as its longest review.

Planted: one batch in twelve has a review of 480 tokens among short ones of 40, and its step takes many times longer.
Truth: time of these steps above the others' median, as a share of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch

SHORT, LONG, EVERY, BATCH = 40, 480, 12, 16


class Reviews(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(6000, 96)
        layer = nn.TransformerEncoderLayer(96, 4, 192, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(96, 5)

    def forward(self, tokens):
        return self.out(self.encoder(self.embedding(tokens)).mean(1))


def pad(reviews):
    return nn.utils.rnn.pad_sequence(reviews, batch_first=True)


def main():
    torch.manual_seed(23)
    torch.set_num_threads(1)
    model = Reviews()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch, long_steps = Stopwatch(), []
    with watch.loop():
        while watch.seconds() < 9:
            reviews = [torch.randint(1, 6000, (SHORT,)) for _ in range(BATCH)]
            if torch.rand(()) < 1 / EVERY:
                reviews[0] = torch.randint(1, 6000, (LONG,))
                long_steps.append(len(watch.marks))
            loss = nn.functional.cross_entropy(model(pad(reviews)), torch.randint(5, (BATCH,)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    times = watch.step_times()
    usual = statistics.median(times)
    print(f"loss {loss.item():.3f}")
    watch.tell(sum(times[step] - usual for step in long_steps) / (watch.ended - watch.began), long_steps=len(long_steps))


if __name__ == "__main__":
    main()
