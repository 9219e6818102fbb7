"""Sorts the glitches of a detector of gravitational waves by their spectrograms, in short epochs of hard examples.

Planted: an epoch has 14 batches, and at its begin the DataLoader starts its two workers anew.
Truth: time that the loop waits for the loader, starts of workers included.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, SubsetRandomSampler

from stopwatch import Stopwatch

CLASSES = 22


class Glitches(Dataset):
    def __init__(self, count=2000):
        generator = torch.Generator().manual_seed(8)
        self.spectra = torch.randn(count, 1, 64, 64, generator=generator)
        self.kinds = torch.randint(0, CLASSES, (count,), generator=generator)

    def __len__(self):
        return len(self.spectra)

    def __getitem__(self, number):
        return number, self.spectra[number].roll(number % 9, dims=-1), self.kinds[number]


class Classifier(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(1, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(32, 48, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(48 * 16, CLASSES))


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)  # the workers need the other core
    glitches, model = Glitches(), Classifier()
    hardness = torch.ones(len(glitches))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 7:
            hard = torch.multinomial(hardness, 14 * 16).tolist()
            loader = DataLoader(glitches, batch_size=16, sampler=SubsetRandomSampler(hard), num_workers=2)
            for numbers, spectra, kinds in watch.batches(loader):
                losses = nn.functional.cross_entropy(model(spectra), kinds, reduction="none")
                optimizer.zero_grad()
                losses.mean().backward()
                optimizer.step()
                hardness[numbers] = losses.detach() + 0.05
                watch.step()
    print(f"mean loss {losses.mean().item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
