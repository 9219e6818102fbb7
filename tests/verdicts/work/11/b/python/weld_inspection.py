"""Sorts weld photographs into defect classes: grey images are synthesised,
normalised and augmented one by one, and a small convolutional net learns."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 48
IMAGES = 640
EPOCHS = 3
CLASSES = ("sound", "pore", "crack", "undercut")


def draw(label, generator):
    """One image: a bright seam on dark plate, with a defect of the class."""
    y, x = torch.meshgrid(torch.arange(SIZE).float(), torch.arange(SIZE).float(), indexing="ij")
    shift, bend = torch.randn(2, generator=generator).tolist()
    seam = SIZE / 2 + 2 * shift + 2 * bend * torch.sin(x / 9)
    image = 60 + 110 * torch.exp(-((y - seam) ** 2) / 60)
    ripple = torch.rand(1, generator=generator).item() * 6
    image += 12 * torch.sin(x * 0.9 + ripple) * torch.exp(-((y - seam) ** 2) / 40)
    cx, cy = (torch.rand(2, generator=generator) * 0.5 + 0.25).mul(SIZE).tolist()
    if label == 1:
        image -= 90 * torch.exp(-((x - cx) ** 2 + (y - SIZE / 2) ** 2) / 7)
    elif label == 2:
        image -= 80 * torch.exp(-((x - cx - 0.4 * (y - cy)) ** 2) / 2) * ((y - SIZE / 2).abs() < 12)
    elif label == 3:
        image -= 55 * torch.exp(-((y - seam - 10) ** 2) / 6)
    image += 9 * torch.randn(SIZE, SIZE, generator=generator)
    return image.clamp(0, 255).to(torch.uint8)


class WeldImages(Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.labels = torch.arange(count) % len(CLASSES)
        self.images = torch.stack([draw(int(label), generator) for label in self.labels])
        self.seed = seed

    @property
    def mean(self):
        return self.images.float().mean()

    @property
    def std(self):
        return self.images.float().std()

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = (self.images[index].float() - self.mean) / self.std
        return image.unsqueeze(0), self.labels[index]


class Augmented(Dataset):
    """Flips, shifts and changes the exposure of another set's images."""

    def __init__(self, inner, seed):
        self.inner = inner
        self.generator = torch.Generator().manual_seed(seed)

    def __len__(self):
        return len(self.inner)

    def __getitem__(self, index):
        image, label = self.inner[index]
        flip, dx, dy = torch.randint(0, 1000, (3,), generator=self.generator).tolist()
        if flip % 2:
            image = image.flip(2)
        image = image.roll((dx % 7 - 3, dy % 7 - 3), dims=(1, 2))
        gain, offset = torch.randn(2, generator=self.generator).tolist()
        return image * (1 + 0.1 * gain) + 0.1 * offset, label


class InspectionNet(nn.Module):
    def __init__(self, width=14):
        super().__init__()
        self.features = nn.Sequential(
            self.block(1, width),
            nn.MaxPool2d(2),
            self.block(width, 2 * width),
            nn.MaxPool2d(2),
            self.block(2 * width, 3 * width),
            nn.AdaptiveAvgPool2d(3),
            nn.Flatten(),
        )
        self.head = nn.Sequential(nn.Linear(27 * width, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, len(CLASSES)))

    @staticmethod
    def block(inside, outside):
        return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.ReLU())

    def forward(self, x):
        return self.head(self.features(x))


def train_epoch(model, loader, optimizer, schedule):
    total = count = 0
    for images, labels in loader:
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.item() * len(labels)
        count += len(labels)
    return total / count


@torch.no_grad()
def confusion(model, loader):
    model.eval()
    table = torch.zeros(len(CLASSES), len(CLASSES), dtype=torch.long)
    for images, labels in loader:
        guesses = model(images).argmax(dim=1)
        table.index_put_((labels, guesses), torch.ones_like(labels), accumulate=True)
    model.train()
    return table


def main():
    torch.manual_seed(21)
    torch.set_num_threads(1)
    training = WeldImages(IMAGES, seed=5)
    held_out = WeldImages(128, seed=6)
    loader = DataLoader(
        Augmented(training, seed=9), batch_size=32, shuffle=True, generator=torch.Generator().manual_seed(1)
    )
    model = InspectionNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=EPOCHS * len(loader))
    losses = [train_epoch(model, loader, optimizer, schedule) for _ in range(EPOCHS)]
    table = confusion(model, DataLoader(held_out, batch_size=64))
    print("losses " + " ".join(f"{loss:.4f}" for loss in losses))
    print(f"accuracy {table.diagonal().sum().item() / table.sum().item():.3f}, cracks found {table[2, 2].item()}")


if __name__ == "__main__":
    main()
