"""Embeds ingredients so that those of one recipe are near each other. Recipes are rows of a data base.

Planted: the table of ingredients has no index on the recipe, so each sample's query walks through all its rows.
Truth: time that the loop waits for its loader, which has no workers.
"""
import os
import random
import sqlite3
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

RECIPES, INGREDIENTS, EACH = 300, 3000, 8


def fill(path):
    chance = random.Random(3)
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE recipe (id INTEGER PRIMARY KEY, title TEXT)")
    base.execute("CREATE TABLE contains (recipe INTEGER, ingredient INTEGER, grams REAL)")
    for recipe in range(RECIPES):
        base.execute("INSERT INTO recipe VALUES (?, ?)", (recipe, f"recipe {recipe}"))
        base.executemany("INSERT INTO contains VALUES (?, ?, ?)",
                         [(recipe, chance.randrange(INGREDIENTS), chance.uniform(1, 500)) for _ in range(EACH)])
    base.commit()
    base.close()


class Recipes(Dataset):
    def __init__(self, path):
        self.base = sqlite3.connect(path)

    def __len__(self):
        return RECIPES * 40

    def __getitem__(self, number):
        rows = self.base.execute("SELECT ingredient, grams FROM contains WHERE recipe = ?", (number % RECIPES,)).fetchall()
        return torch.tensor([row[0] for row in rows]), torch.tensor([row[1] for row in rows])


class Kitchen(nn.Module):
    def __init__(self):
        super().__init__()
        self.taste = nn.Embedding(INGREDIENTS, 128)
        self.mix = nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128))

    def forward(self, ingredients, grams):
        share = (grams / grams.sum(1, keepdim=True)).unsqueeze(-1)
        known = (self.taste(ingredients[:, 1:]) * share[:, 1:]).sum(1)
        return self.mix(known) @ self.taste.weight.T


def main():
    torch.manual_seed(6)
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "recipes.db")
    fill(path)
    loader = DataLoader(Recipes(path), batch_size=48, shuffle=True)
    model = Kitchen()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 7:
            for ingredients, grams in watch.limited(watch.batches(loader), 7):
                loss = nn.functional.cross_entropy(model(ingredients, grams), ingredients[:, 0])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    os.unlink(path)
    os.rmdir(folder)
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
