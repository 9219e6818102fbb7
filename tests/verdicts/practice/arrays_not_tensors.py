"""Regresses depth from images; the collate function returns numpy arrays.

Planted: only tensors travel through shared memory. The arrays of 25 MB a batch are pickled, written to a pipe
by the worker, and read and unpickled by the loop, although the next batch is always ready.
Truth: time in the loader's next().
"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Rooms(Dataset):
    def __init__(self, count=24 * 300):
        self.count = count
        self.image = np.random.default_rng(5).random((3, 296, 296), dtype=np.float32)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.image, float(index % 7)


def collate(samples):
    images = np.stack([image for image, _ in samples])
    return {"image": images, "depth": np.array([depth for _, depth in samples], np.float32)}


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.AvgPool2d(4), nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(6), nn.Flatten(),
                          nn.Linear(16 * 36, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = DataLoader(Rooms(), batch_size=24, num_workers=2, prefetch_factor=4, collate_fn=collate)
    watch = Stopwatch()
    with watch.loop():
        for batch in watch.limited(watch.batches(loader), 9):
            images, depth = torch.from_numpy(batch["image"]), torch.from_numpy(batch["depth"])
            for _ in range(3):  # horizontal, vertical, and no flip
                loss = nn.functional.mse_loss(model(images).squeeze(1), depth)
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
