"""Adapts the plant's general image backbone to a new defect catalogue.

Only a fresh head is trained, on few labelled images; the backbone comes from
the checkpoint of the base model and stays as it is.
"""
import math
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

SIZE = 64
CLASSES = 5
TRAIN_IMAGES = 288
TEST_IMAGES = 160
BATCH = 32
EPOCHS = 5


class Residual(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(cout)
        self.short = nn.Conv2d(cin, cout, 1, stride=stride, bias=False) if stride > 1 or cin != cout else nn.Identity()

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.short(x))


class Backbone(nn.Module):
    width = 192

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 24, 5, stride=2, padding=2, bias=False), nn.BatchNorm2d(24), nn.ReLU())
        self.layers = nn.Sequential(
            Residual(24, 24), Residual(24, 48, 2), Residual(48, 48), Residual(48, 96, 2), Residual(96, 192, 2),
        )

    def forward(self, x):
        return self.layers(self.stem(x)).mean(dim=(2, 3))


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.hidden = nn.Linear(width, 96)
        self.out = nn.Linear(96, CLASSES)

    def forward(self, x):
        return self.out(F.gelu(self.hidden(self.norm(x))))


class Inspector(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.head = Head(backbone.width)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()  # keep the running statistics of the base model
        return self

    def forward(self, x):
        return self.head(self.backbone(x))


def base_checkpoint(path):
    torch.manual_seed(100)
    base = Backbone()
    base.train()
    with torch.no_grad():
        for _ in range(3):
            base(torch.randn(16, 1, SIZE, SIZE))
    torch.save({"model": base.state_dict(), "release": "2024.2"}, path)


def load_backbone(path):
    backbone = Backbone()
    backbone.load_state_dict(torch.load(path, weights_only=True)["model"])
    return backbone


def make_images(count, seed):
    """Textured metal with one of: clean, scratch, pit, stain, grid misprint."""
    g = torch.Generator().manual_seed(seed)
    y, x = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    labels = torch.randint(0, CLASSES, (count,), generator=g)
    images = torch.randn(count, 1, SIZE, SIZE, generator=g) * 0.3
    place = torch.rand(count, 3, generator=g)
    for i, label in enumerate(labels.tolist()):
        cx, cy, a = 12 + 40 * place[i, 0], 12 + 40 * place[i, 1], math.pi * float(place[i, 2])
        if label == 1:
            images[i, 0] += 2.0 * (((x - cx) * math.cos(a) + (y - cy) * math.sin(a)).abs() < 1.5)
        elif label == 2:
            images[i, 0] -= 2.5 * torch.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 12)
        elif label == 3:
            images[i, 0] += 1.2 * torch.exp(-((x - cx) ** 2 + 2 * (y - cy) ** 2) / 220)
        elif label == 4:
            images[i, 0] += 0.8 * torch.sin(x * 0.9 + 3 * a) * torch.sin(y * 0.9)
    return images, labels


def fit(model, images, labels):
    optimizer = torch.optim.SGD(model.head.parameters(), lr=0.2, momentum=0.9, nesterov=True, weight_decay=1e-4)
    steps = EPOCHS * (len(labels) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    g = torch.Generator().manual_seed(9)
    for epoch in range(EPOCHS):
        model.train()
        losses = []
        for rows in torch.randperm(len(labels), generator=g).split(BATCH):
            if len(rows) < BATCH:
                continue
            batch = images[rows]
            flip = torch.rand(len(rows), generator=g) < 0.5
            batch[flip] = batch[flip].flip(-1)
            loss = F.cross_entropy(model(batch), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.detach())
        print(f"epoch {epoch + 1}: loss {torch.stack(losses).mean().item():.3f}")


@torch.no_grad()
def score(model, images, labels):
    model.eval()
    right = torch.zeros(CLASSES)
    for rows in torch.arange(len(labels)).split(64):
        hit = model(images[rows]).argmax(dim=1) == labels[rows]
        right += torch.bincount(labels[rows][hit], minlength=CLASSES)
    return right, torch.bincount(labels, minlength=CLASSES)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "base.pt"
        base_checkpoint(path)
        torch.manual_seed(4)
        model = Inspector(load_backbone(path))
    images, labels = make_images(TRAIN_IMAGES, 21)
    fit(model, images, labels)
    right, total = score(model, *make_images(TEST_IMAGES, 22))
    print("recall:", [round(v, 2) for v in (right / total).tolist()])
    print(f"accuracy {(right.sum() / total.sum()).item():.2f}")


if __name__ == "__main__":
    main()
