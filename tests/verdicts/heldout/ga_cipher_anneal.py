"""Breaks substitution ciphers with a soft permutation that is cooled down, with a model that torch.compile() compiles.

Planted: the schedule sets the temperature as a new Python number of the module now and then, a constant of the
compiled graph, so the model is compiled again each time.
Truth: time of the calls in which a graph was compiled, less a usual call each, of the loop.
"""
import statistics
import time

import torch
from torch import nn

from stopwatch import Stopwatch

LETTERS, LENGTH, BATCH = 30, 128, 12


class SoftKey(nn.Module):
    def __init__(self):
        super().__init__()
        self.key = nn.Parameter(torch.randn(LETTERS, LETTERS) * 0.1)
        self.embed = nn.Linear(LETTERS, 80)
        self.context = nn.Sequential(nn.Conv1d(80, 80, 5, padding=2), nn.GELU(), nn.Conv1d(80, 80, 5, padding=2), nn.GELU())
        self.read = nn.Linear(80, LETTERS)
        self.temperature = 2.0

    def forward(self, cipher):
        key = self.key / self.temperature
        for _ in range(6):  # Sinkhorn's normalization
            key = key - torch.logsumexp(key, 1, keepdim=True)
            key = key - torch.logsumexp(key, 0, keepdim=True)
        plain = cipher @ key.exp()
        return self.read(self.context(self.embed(plain).transpose(1, 2)).transpose(1, 2))


class Cooling:
    """Every 75 steps a little colder."""

    def __init__(self, model):
        self.model, self.steps = model, 0

    def step(self):
        self.steps += 1
        if self.steps % 75 == 0:
            self.model.temperature = max(0.3, 2.0 * 0.96 ** (self.steps // 75))


def main():
    torch.manual_seed(12)
    torch._dynamo.config.recompile_limit = 256
    torch._dynamo.config.accumulated_recompile_limit = 1024
    graphs, backend = [0], torch._dynamo.lookup_backend("aot_eager")

    def counted(graph, inputs):
        graphs[0] += 1
        return backend(graph, inputs)

    model = SoftKey()
    compiled = torch.compile(model, backend=counted, dynamic=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, fused=True)
    cooling = Cooling(model)
    secret = torch.randperm(LETTERS)
    books = torch.randint(LETTERS, (64, LENGTH))
    compiled(nn.functional.one_hot(secret[books[:BATCH]], LETTERS).float())
    watch, usual = Stopwatch(), []
    with watch.loop():
        while watch.seconds() < 6.5:
            text = books[torch.randint(64, (BATCH,))]
            cipher = nn.functional.one_hot(secret[text], LETTERS).float()
            before, began = graphs[0], time.perf_counter()
            odds = compiled(cipher)
            took = time.perf_counter() - began
            if graphs[0] > before:
                watch.planted_s += took - (statistics.median(usual) if usual else 0.0)
            else:
                usual.append(took)
            loss = nn.functional.cross_entropy(odds.flatten(0, 1), text.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            cooling.step()
            watch.step()
    print(f"{graphs[0]} graphs, loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
