"""Who owns which point at the end of a game of Go? A residual network on boards of 13 x 13.

Decoy: it begins with a long warm-up before the loop, validates on one batch now and then, saves the stem, clears a cache, copies a view and collects garbage of a frozen heap, all of a moment.
Truth: time of these in the loop, of the loop.
"""
import gc
import io

import torch
from torch import nn

from stopwatch import Stopwatch

SIDE, PLANES, MAPS, GAMES = 13, 6, 48, 32


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(MAPS, MAPS, 3, padding=1)
        self.two = nn.Conv2d(MAPS, MAPS, 3, padding=1)

    def forward(self, x):
        return torch.relu(x + 0.3 * self.two(torch.relu(self.one(x))))


class Owner(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(PLANES, MAPS, 3, padding=1)
        self.body = nn.Sequential(*(Residual() for _ in range(5)))
        self.head = nn.Conv2d(MAPS, 1, 1)

    def forward(self, boards):
        return self.head(self.body(torch.relu(self.stem(boards)))).squeeze(1)


class Coach:
    def __init__(self):
        self.model = Owner()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9, fused=True)
        self.boards = (torch.rand(20, GAMES, PLANES, SIDE, SIDE) < 0.3).float()
        self.owners = (torch.rand(20, GAMES, SIDE, SIDE) < 0.5).float()
        self.saved, self.notes = None, []

    def learn(self, number):
        self.optimizer.zero_grad()
        said = self.model(self.boards[number % 20])
        loss = nn.functional.binary_cross_entropy_with_logits(said, self.owners[number % 20])
        loss.backward()
        self.optimizer.step()
        return loss

    def look_after(self, number, loss):
        if number % 40 == 0:
            with torch.no_grad():
                self.notes.append(self.model(self.boards[0, :8].transpose(2, 3).contiguous()).mean().item())
        if number % 25 == 0:
            self.saved = io.BytesIO()
            torch.save(self.model.stem.state_dict(), self.saved)
        if number % 50 == 0:
            gc.collect()
        self.notes = (self.notes + [loss.item()])[-100:]


def main():
    torch.manual_seed(13)
    watch, coach = Stopwatch(), Coach()
    for number in range(8):
        coach.learn(number)
    gc.freeze()
    with watch.loop():
        number = 0
        while watch.seconds() < 6:
            number += 1
            loss = coach.learn(number)
            with watch.planted():
                coach.look_after(number, loss)
            watch.step()
    watch.tell(loss=round(loss.item(), 3))


if __name__ == "__main__":
    main()
