"""Guesses the country of a recipe.

Planted: the collate function looks up and pads ingredients one by one, in the training process.
Truth: time that the loop waits for its batches, as a share of the loop.
"""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Recipes(Dataset):
    def __init__(self):
        source = random.Random(14)
        self.recipes = [([f"food{source.randrange(3000)}" for _ in range(source.randrange(20, 120))], source.randrange(30)) for _ in range(800)]

    def __len__(self):
        return 40000

    def __getitem__(self, index):
        return self.recipes[index % 800]


def main():
    torch.manual_seed(14)
    torch.set_num_threads(1)
    numbers = {f"food{number}": number + 1 for number in range(3000)}

    def collate(recipes):
        longest = max(len(foods) for foods, _ in recipes)
        rows = []
        for foods, _ in recipes:
            row = [0] * longest
            for place, food in enumerate(foods):
                row[place] = numbers.get(food.strip().lower(), 0)
            rows.append(row)
        return torch.tensor(rows), torch.tensor([country for _, country in recipes])

    embedding = nn.Embedding(3001, 64, padding_idx=0)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 30))
    optimizer = torch.optim.SGD([*embedding.parameters(), *model.parameters()], lr=0.05)
    loader = DataLoader(Recipes(), batch_size=64, collate_fn=collate)
    watch = Stopwatch()
    with watch.loop():
        for foods, countries in watch.limited(watch.batches(loader), 3.4):
            loss = nn.functional.cross_entropy(model(embedding(foods)).mean(1), countries)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
