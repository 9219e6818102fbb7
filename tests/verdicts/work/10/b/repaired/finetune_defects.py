"""Fine-tunes a surface-defect classifier: a pretrained convolutional trunk is
kept fixed and a small head is trained on images of the new production line."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLASSES = 5
SIZE = 40
EPOCHS = 3


class DefectImages(Dataset):
    """Synthetic steel surface: texture plus a scratch, pit, stain or dent."""

    def __init__(self, count: int, seed: int, augment: bool):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, CLASSES, (count,), generator=g)
        yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
        noise = torch.randn(count, SIZE, SIZE, generator=g) * 0.35
        cx = torch.randint(8, SIZE - 8, (count, 1, 1), generator=g)
        cy = torch.randint(8, SIZE - 8, (count, 1, 1), generator=g)
        lab = self.labels.view(-1, 1, 1)
        d2 = ((xx - cx) ** 2 + (yy - cy) ** 2).float()
        marks = torch.where(lab == 1, ((xx - cx + yy - cy).abs() < 2).float(), torch.zeros(()))
        marks = torch.where(lab == 2, (d2 < 12).float(), marks)
        marks = torch.where(lab == 3, torch.exp(-d2 / 60), marks)
        marks = torch.where(lab == 4, ((d2 > 25) & (d2 < 45)).float(), marks)
        self.images = (noise + 1.3 * marks).unsqueeze(1)
        self.augment = augment
        self.generator = torch.Generator().manual_seed(seed + 1)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int):
        x = self.images[i]
        if self.augment:
            flip, shift = torch.randint(0, 8, (2,), generator=self.generator).tolist()
            if flip & 1:
                x = x.flip(-1)
            if flip & 2:
                x = x.flip(-2)
            x = x.roll(shift - 4, -1)
        return x, self.labels[i]


def block(cin: int, cout: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, 1, 1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class Trunk(nn.Module):
    def __init__(self, width: int = 24):
        super().__init__()
        self.stages = nn.Sequential(block(1, width, 1), block(width, 2 * width, 2),
                                    block(2 * width, 4 * width, 2))
        self.features = 4 * width * 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.stages(x)
        return torch.cat([h.mean((2, 3)), h.amax((2, 3))], dim=1)


def load_pretrained() -> Trunk:
    """Stands for the checkpoint of the general texture model."""
    trunk = Trunk()
    g = torch.Generator().manual_seed(1234)
    for m in trunk.modules():
        if isinstance(m, nn.Conv2d):
            fan = m.weight[0].numel()
            m.weight.data = torch.randn(m.weight.shape, generator=g) * math.sqrt(2.0 / fan)
    return trunk


class DefectClassifier(nn.Module):
    def __init__(self, trunk: Trunk):
        super().__init__()
        self.trunk = trunk.requires_grad_(False)
        self.head = nn.Sequential(nn.LayerNorm(trunk.features), nn.Linear(trunk.features, 96),
                                  nn.GELU(), nn.Linear(96, CLASSES))

    def train(self, mode: bool = True):
        super().train(mode)
        self.trunk.eval()               # keep the running statistics of the checkpoint
        return self

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.trunk(x))


def train_epoch(model, loader, optimizer, schedule) -> float:
    model.train()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    total = 0.0
    for images, labels in loader:
        loss = criterion(model(images), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.item() * len(labels)
    return total / len(loader.dataset)


@torch.inference_mode()
def accuracy(model, loader) -> float:
    model.eval()
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def main() -> None:
    torch.manual_seed(0)
    train = DefectImages(512, seed=1, augment=True)
    held = DefectImages(200, seed=2, augment=False)
    train_loader = DataLoader(train, batch_size=32, shuffle=True)
    held_loader = DataLoader(held, batch_size=100)
    model = DefectClassifier(load_pretrained())
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=3e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=6e-3, total_steps=EPOCHS * len(train_loader))
    for epoch in range(EPOCHS):
        loss = train_epoch(model, train_loader, optimizer, schedule)
        print(f"epoch {epoch} loss {loss:.3f} held-out accuracy {accuracy(model, held_loader):.3f}")


if __name__ == "__main__":
    main()
