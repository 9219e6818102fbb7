"""Data sets of random pictures, of the size that DWELL_PROGRAM_SAMPLES says."""
import os

import torch
from PIL import Image


class Pictures(torch.utils.data.Dataset):
    shape, classes = (28, 28), 10

    def __init__(self, root=None, train=True, transform=None, target_transform=None, download=False, **_):
        count = int(os.environ.get("DWELL_PROGRAM_SAMPLES", "6000")) // (1 if train else 6)
        generator = torch.Generator().manual_seed(int(train))
        self.data = torch.randint(0, 256, (count, *self.shape), dtype=torch.uint8, generator=generator)
        self.targets = torch.randint(0, self.classes, (count,), generator=generator)
        self.transform, self.target_transform = transform, target_transform

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        picture, target = Image.fromarray(self.data[index].numpy()), int(self.targets[index])
        return (self.transform(picture) if self.transform else picture,
                self.target_transform(target) if self.target_transform else target)


MNIST = Pictures


class CIFAR10(Pictures):
    shape = (32, 32, 3)


class FakeData(Pictures):
    """Its pictures are as large as the program says: (planes, high, wide)."""

    def __init__(self, size=1000, image_size=(3, 224, 224), num_classes=10, transform=None, target_transform=None):
        self.shape, self.classes = (*image_size[1:], image_size[0]), num_classes
        super().__init__(transform=transform, target_transform=target_transform)
