"""Predicts which parcels are late, from manifests.

Planted: the worker returns each batch with its manifests as nested dictionaries, which the training process unpickles.
Truth: time that the loop waits for its batches, as a share of the loop; the worker has made them before.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Manifests(Dataset):
    def __init__(self):
        self.stock = [[{"id": f"{item}-{part}", "stops": [str(part + stop) for stop in range(9)], "kg": part / 7} for part in range(120)]
                      for item in range(8)]

    def __len__(self):
        return 100000

    def __getitem__(self, index):
        return self.stock[index % 8]


def collate(items):
    return torch.randn(256, 200), torch.randint(2, (256,)), items


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(200, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Manifests(), batch_size=24, num_workers=1, collate_fn=collate, prefetch_factor=4)
    watch, weight = Stopwatch(), 0.0
    with watch.loop():
        for features, late, manifests in watch.limited(watch.batches(loader), 3.6):
            for _ in range(2):
                loss = nn.functional.cross_entropy(model(features), late)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            weight += manifests[0][-1]["kg"]
            watch.step()
    print(f"loss {loss.item():.3f}, {weight:.0f} kg")
    watch.tell()


if __name__ == "__main__":
    main()
