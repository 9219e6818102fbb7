"""Which dialect a letter is written in: a convolution over characters with attention, compiled. Letters come sorted into lengths; a curriculum
begins with short ones and lets longer ones in from time to time.

Planted: torch.compile(dynamic=False), so each length that comes for the first time compiles the model anew.
Truth: time of the model's call with a length that it has not seen, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

SIGNS, DIALECTS, BATCH = 64, 9, 48
watch = Stopwatch()


class Dialect(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.sign = nn.Embedding(SIGNS, width)
        self.near = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2) for _ in range(3))
        self.weigh = nn.Linear(width, 1)
        self.dialect = nn.Linear(width, DIALECTS)

    def forward(self, letter):
        x = self.sign(letter).transpose(1, 2)
        for near in self.near:
            x = x + torch.relu(near(x))
        x = x.transpose(1, 2)
        return self.dialect((self.weigh(x).softmax(1) * x).sum(1))


class Curriculum:
    """Lengths that may come: another one after some letters."""

    def __init__(self, shortest=60, more=3, every=12):
        self.lengths, self.more, self.every, self.given = [shortest], more, every, 0

    def batch(self):
        self.given += 1
        if self.given % self.every == 0:
            self.lengths.append(self.lengths[-1] + self.more)
        length = self.lengths[-1 - self.given * 7 % min(len(self.lengths), 6)]
        letters = torch.randint(0, SIGNS, (BATCH, length))
        return letters, letters[:, :20].sum(1) % DIALECTS


def main():
    torch.set_num_threads(1)
    torch.manual_seed(15)
    torch._dynamo.config.recompile_limit = 200
    model = Dialect()
    compiled = torch.compile(model, dynamic=False, backend="aot_eager")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    curriculum, seen = Curriculum(), set()
    letters, dialect = curriculum.batch()
    compiled(letters).sum().backward()
    optimizer.zero_grad()
    seen.add(letters.shape[1])
    with watch.loop():
        for _ in watch.limited(range(100000), 6.5):
            letters, dialect = curriculum.batch()
            if letters.shape[1] in seen:
                said = compiled(letters)
            else:
                with watch.planted():
                    said = compiled(letters)
                seen.add(letters.shape[1])
            loss = nn.functional.cross_entropy(said, dialect)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            watch.step()
    print(f"loss {loss.item():.4f}, {len(seen)} lengths")
    watch.tell()


main()
