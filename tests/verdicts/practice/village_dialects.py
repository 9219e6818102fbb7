"""Tells dialects apart by vowels, in many short epochs.

Planted: two workers that are not persistent start at the beginning of each epoch.
Truth: time that the loop waits for its batches, as a share of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Vowels(Dataset):
    def __init__(self):
        self.formants = torch.randn(240, 64, 40)

    def __len__(self):
        return len(self.formants)

    def __getitem__(self, index):
        return self.formants[index], index % 5


def main():
    torch.manual_seed(31)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv1d(64, 128, 5, padding=2), nn.GELU(), nn.Conv1d(128, 128, 5, padding=2), nn.GELU(),
                          nn.Flatten(), nn.Linear(5120, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Vowels(), batch_size=16, shuffle=True, num_workers=2)
    watch = Stopwatch()
    with watch.loop():
        for _ in watch.limited(range(60), 3.6):
            for vowels, dialects in watch.batches(loader):
                loss = nn.functional.cross_entropy(model(vowels), dialects)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
