"""Trains a small convolutional network to write poems, and looks at its perplexity often.

Planted: the perplexity of the held back poems is computed after every tenth step.
Truth: time of computing it, as a share of the loop.
"""
import math

import torch
from torch import nn

from stopwatch import Stopwatch


class Poet(nn.Module):
    def __init__(self, letters=80, width=160):
        super().__init__()
        self.letters = nn.Embedding(letters, 64)
        self.near, self.far = nn.Conv1d(64, width, 5), nn.Conv1d(width, width, 5)
        self.head = nn.Conv1d(width, letters, 1)

    def forward(self, text):
        before = nn.functional.pad(self.letters(text).transpose(1, 2), (8, 0))
        return self.head(torch.relu(self.far(torch.relu(self.near(before)))))


def loss_of(model, text):
    return nn.functional.cross_entropy(model(text[:, :-1]), text[:, 1:])


@torch.no_grad()
def perplexity(model, poems):
    model.eval()
    losses = [loss_of(model, part).item() for part in poems.split(32)]
    model.train()
    return math.exp(sum(losses) / len(losses))


def main():
    torch.manual_seed(218)
    torch.set_num_threads(1)
    model = Poet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    poems, held_back, watch, value = torch.randint(80, (2000, 41)), torch.randint(80, (480, 41)), Stopwatch(), math.inf
    with watch.loop():
        while watch.seconds() < 3.6:
            loss = loss_of(model, poems[torch.randint(2000, (32,))])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            watch.step()
            if len(watch.marks) % 10 == 0:
                with watch.planted():
                    value = perplexity(model, held_back)
    print(f"loss {loss.item():.3f}, perplexity {value:.1f}")
    watch.tell()


if __name__ == "__main__":
    main()
