"""Which kitchen a recipe comes from: a convolution over its steps, each a row of amounts, heat and minutes.

Planted: the loader's collate_fn fills recipes up with zeros as nested lists in Python, in the training's process, and makes a tensor of them.
Truth: time in collate(), of the loop.
"""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

MOST_STEPS, FACTS, KITCHENS, BATCH = 72, 12, 9, 48
watch = Stopwatch()


class Recipes(Dataset):
    """Each recipe is a list of its steps, as it came out of a JSON file."""

    def __init__(self, count):
        dice = random.Random(12)
        self.recipes = []
        for number in range(count):
            kitchen = number % KITCHENS
            steps = [[dice.gauss(kitchen / 9 if fact == kitchen else 0, 1) for fact in range(FACTS)] for _ in range(dice.randint(30, MOST_STEPS))]
            self.recipes.append((steps, kitchen))

    def __len__(self):
        return len(self.recipes)

    def __getitem__(self, number):
        return self.recipes[number]


def fill_up(steps):
    peaks = [max(abs(fact) for fact in column) for column in zip(*steps)]
    rows = [[fact / peak for fact, peak in zip(step, peaks)] for step in steps]
    return rows + [[0.0] * FACTS] * (MOST_STEPS - len(rows))


def collate(recipes):
    with watch.planted():
        steps = torch.tensor([fill_up(steps) for steps, _ in recipes])
        kitchens = torch.tensor([kitchen for _, kitchen in recipes])
    return steps, kitchens


class Taster(nn.Module):
    def __init__(self, width=80):
        super().__init__()
        self.into = nn.Conv1d(FACTS, width, 5, padding=2)
        self.more = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2) for _ in range(3))
        self.norms = nn.ModuleList(nn.GroupNorm(8, width) for _ in range(3))
        self.out = nn.Linear(width, KITCHENS)

    def forward(self, steps):
        x = self.into(steps.transpose(1, 2))
        for conv, norm in zip(self.more, self.norms):
            x = x + conv(norm(x).relu())
        return self.out(x.mean(2))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(4)
    taster = Taster()
    optimizer = torch.optim.AdamW(taster.parameters(), lr=2e-3, fused=True)
    loader = DataLoader(Recipes(1920), batch_size=BATCH, shuffle=True, collate_fn=collate, drop_last=True)
    with watch.loop():
        while watch.seconds() < 6.3:
            for steps, kitchens in loader:
                loss = nn.functional.cross_entropy(taster(steps), kitchens)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                watch.step()
                if watch.seconds() > 6.3:
                    break
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
