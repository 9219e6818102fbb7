"""Continues the phrases of a warbler: a causal network of convolutions and attention, compiled, with a curriculum.

Planted: phrases become one note longer every 24 steps, and torch.compile(dynamic=False) compiles anew for each length.
Truth: what steps with a new length take longer than the median of all, of the loop.
"""
import statistics

import torch
import torch._dynamo
from torch import nn

from stopwatch import Stopwatch

NOTES, WIDTH, BATCH = 48, 96, 24
torch._dynamo.config.recompile_limit = 200


class Phrase(nn.Module):
    def __init__(self):
        super().__init__()
        self.note = nn.Embedding(NOTES, WIDTH)
        self.near = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, 3) for _ in range(2))
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.next = nn.Linear(WIDTH, NOTES)

    def forward(self, notes):
        x = self.note(notes)
        for near in self.near:
            x = x + nn.functional.gelu(near(nn.functional.pad(x.transpose(1, 2), (2, 0)))).transpose(1, 2)
        length = notes.shape[1]
        odds = self.query(x) @ self.key(x).transpose(1, 2) / WIDTH**0.5
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        x = x + odds.masked_fill(later, -1e9).softmax(2) @ self.value(x)
        return self.next(x)


class Curriculum:
    """Short phrases first."""

    def __init__(self, shortest=64, every=24):
        self.shortest, self.every, self.step = shortest, every, 0
        self.song = (torch.arange(5000) * 7 + (torch.arange(5000) // 9) ** 2) % NOTES

    def __iter__(self):
        while True:
            length = self.shortest + self.step // self.every
            start = torch.randint(0, 5000 - length - 1, (BATCH, 1))
            notes = self.song[start + torch.arange(length + 1)]
            self.step += 1
            yield notes[:, :-1], notes[:, 1:]


def main():
    torch.manual_seed(12)
    model, watch = Phrase(), Stopwatch()
    # The field laptops have no compiler of C++, which "inductor" needs.
    fast = torch.compile(model, backend="aot_eager", dynamic=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    lessons = Curriculum()
    first, _ = next(iter(Curriculum()))
    fast(first).sum().backward()
    optimizer.zero_grad()
    new = []
    with watch.loop():
        for notes, following in watch.limited(lessons, 6.5):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(fast(notes).flatten(0, 1), following.flatten())
            loss.backward()
            optimizer.step()
            watch.step()
            new.append(lessons.step % lessons.every == 1 and lessons.step > 1)
    usual = statistics.median(watch.step_times())
    longer = sum(time - usual for time, compiles in zip(watch.step_times(), new) if compiles)
    print(f"loss {loss.item():.3f}, {sum(new)} new lengths")
    watch.tell(longer / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
