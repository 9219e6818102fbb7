"""Classifies plants by the cards of a herbarium, plain PyTorch.

Planted: the data set parses the JSON text of a card each time the card is asked for, in the loop's process.
Truth: time that the loop waits for batches, as a share of the loop.
"""
import json

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Cards(Dataset):
    def __init__(self):
        numbers = torch.rand(256, 400, generator=torch.Generator().manual_seed(1)).tolist()
        self.cards = [json.dumps({"measures": row, "places": [{"name": f"hill {k}", "height": k * 3.5} for k in range(60)],
                                  "family": at % 20}) for at, row in enumerate(numbers)]

    def __len__(self):
        return 64 * 2000

    def __getitem__(self, at):
        card = json.loads(self.cards[at % len(self.cards)])
        heights = [place["height"] for place in card["places"]]
        return torch.tensor(card["measures"] + heights), card["family"]


def main():
    torch.manual_seed(2)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(460, 2048), nn.ReLU(), nn.Linear(2048, 1024), nn.ReLU(), nn.Linear(1024, 20))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watch.loop():
        for measures, families in watch.limited(watch.batches(DataLoader(Cards(), batch_size=64)), 5):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(measures), families).backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
