"""Finds bleached coral in pictures of a reef with a small convolutional network.

Planted: after each third step the network is evaluated on a large part of the reef, and it keeps the graphs for a backward pass that never comes.
Truth: time of the evaluations, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


def reef(count, generator):
    pictures = torch.rand(count, 3, 32, 32, generator=generator)
    return pictures, (pictures[:, 0].mean((1, 2)) > pictures[:, 1].mean((1, 2))).long()


class Polyps(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.head = nn.Linear(128, 2)

    def forward(self, pictures):
        return self.head(self.body(pictures))


class Diver:
    """Trains, and looks now and then how good it is."""

    def __init__(self, model, held):
        self.model, self.held = model, held
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.best = 0.0

    def dive(self, pictures, bleached):
        self.model.train()
        loss = nn.functional.cross_entropy(self.model(pictures), bleached)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def assess(self):
        self.model.eval()
        pictures, bleached = self.held
        right = 0
        for at in range(0, len(pictures), 64):
            said = self.model(pictures[at:at + 64])
            right += (said.argmax(1) == bleached[at:at + 64]).sum().item()
        self.best = max(self.best, right / len(pictures))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(6)
    pictures, bleached = reef(2000, generator)
    diver = Diver(Polyps(), reef(320, generator))
    with watch.loop():
        for _ in watch.limited(range(100000), 6):
            pick = torch.randint(len(pictures), (64,), generator=generator)
            diver.dive(pictures[pick], bleached[pick])
            if len(watch.marks) % 3 == 2:
                with watch.planted():
                    diver.assess()
            watch.step()
    print(f"best {diver.best:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
