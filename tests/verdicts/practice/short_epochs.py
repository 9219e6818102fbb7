"""Learns from a small set of chest images in many short epochs.

Planted: workers start anew in each epoch, and each of them reads its index of the archive then.
Truth: time that the loop waits for batches, less that of the same loader's later batches of an epoch.
"""
import json
import os
import tempfile
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Archive(Dataset):
    def __init__(self, index_path, images=96):
        self.index_path = index_path
        self.index = None
        self.images = torch.rand(images, 1, 48, 48, generator=torch.Generator().manual_seed(3))

    def open(self):
        with open(self.index_path, encoding="utf-8") as file:
            self.index = json.load(file)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, number):
        entry = self.index[str(number)]
        return self.images[entry["image"]], entry["finding"]


def open_archive(_worker):
    torch.utils.data.get_worker_info().dataset.open()


def write_index(path):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({str(n): {"image": n % 96, "finding": n % 3, "patient": f"P{n:07d}", "site": "north"}
                   for n in range(120_000)}, file)


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 48, 3), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(48 * 16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    watch, later = Stopwatch(), []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "index.json")
        write_index(path)
        loader = DataLoader(Archive(path), batch_size=12, num_workers=2, worker_init_fn=open_archive)
        with watch.loop():
            while watch.seconds() < 9:
                before, number = watch.planted_s, 0
                for images, findings in watch.batches(loader):
                    if number > 2:
                        later.append(watch.planted_s - before)
                    loss = nn.functional.cross_entropy(model(images), findings)
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    watch.step()
                    before, number = watch.planted_s, number + 1
    usual = sorted(later)[len(later) // 2] * len(watch.marks)
    print(f"loss {loss.item():.3f} at {time.strftime('%H:%M')}")
    watch.tell((watch.planted_s - usual) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
