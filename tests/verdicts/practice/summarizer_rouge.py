"""Trains a summarizer (encoder and decoder of GRUs) with a reward from ROUGE-L.

Planted: ROUGE-L is computed in plain Python for each sentence of each batch and two references, inside the step.
Truth: time of these calls, as a share of the loop.
"""
import random

import torch
from torch import nn

from stopwatch import Stopwatch

VOCABULARY, SOURCE, TARGET, BATCH = 600, 32, 64, 32


def common_subsequence(left, right):
    row = [0] * (len(right) + 1)
    for one in left:
        diagonal = 0
        for position, other in enumerate(right, 1):
            above = row[position]
            row[position] = diagonal + 1 if one == other else max(above, row[position - 1])
            diagonal = above
    return row[-1]


def rouge_l(candidate, reference):
    common = common_subsequence(candidate, reference)
    precision, recall = common / len(candidate), common / len(reference)
    return 2 * precision * recall / (precision + recall) if common else 0.0


class Summarizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 64)
        self.encoder = nn.GRU(64, 96, batch_first=True)
        self.decoder = nn.GRU(64, 96, batch_first=True)
        self.out = nn.Linear(96, VOCABULARY)

    def forward(self, source, target):
        _, state = self.encoder(self.embedding(source))
        hidden, _ = self.decoder(self.embedding(target), state)
        return self.out(hidden)


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    random.seed(7)
    model = Summarizer()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    watch, reward = Stopwatch(), 0.0
    with watch.loop():
        while watch.seconds() < 9:
            source = torch.randint(VOCABULARY, (BATCH, SOURCE))
            target = torch.randint(50, (BATCH, TARGET))
            logits = model(source, target[:, :-1])
            with watch.planted():
                guesses = logits.detach().argmax(2).tolist()
                references, others = target[:, 1:].tolist(), target[:, 1:].flip(1).tolist()
                rewards = [max(rouge_l(guess, one), rouge_l(guess, other))
                           for guess, one, other in zip(guesses, references, others)]
                reward = sum(rewards) / BATCH
            losses = nn.functional.cross_entropy(logits.transpose(1, 2), target[:, 1:], reduction="none").mean(1)
            loss = (losses * (1 + reward - torch.tensor(rewards))).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f} reward {reward:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
