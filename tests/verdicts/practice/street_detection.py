"""Detects objects on streets; each picture comes with its targets as a dictionary of tensors.

Planted: a batch is hundreds of small tensors, each of which a worker passes in a file descriptor of its own.
Truth: time in the loader's next(); the workers' pictures are ready in memory, so this is the hand-over.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Streets(Dataset):
    def __init__(self, count=2400):
        self.count = count
        self.pictures = torch.rand(60, 3, 40, 40)
        self.boxes = torch.rand(60, 12, 4)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        place = index % 60
        boxes = self.boxes[place]
        return self.pictures[place], {"boxes": boxes, "labels": torch.arange(12) % 4, "area": boxes[:, 2] * boxes[:, 3],
                                      "crowd": torch.zeros(12), "id": torch.tensor([index])}


def keep_lists(samples):
    return tuple(zip(*samples))


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.ReLU(),
                                  nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.boxes = nn.Linear(512, 48)

    def forward(self, pictures):
        return self.boxes(self.body(pictures)).view(-1, 12, 4)


def main():
    torch.manual_seed(43)
    torch.set_num_threads(1)
    model = Detector()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Streets(), batch_size=14, collate_fn=keep_lists, num_workers=1, persistent_workers=True, prefetch_factor=4)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            for pictures, targets in watch.limited(watch.batches(loader), 3):
                boxes = model(torch.stack(pictures))
                loss = nn.functional.smooth_l1_loss(boxes, torch.stack([target["boxes"] for target in targets]))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
