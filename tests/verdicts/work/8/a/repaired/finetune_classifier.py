"""Fits a defect classifier head on top of the plant's pretrained vision backbone.

The backbone stays as it was delivered (eval mode, its weights are shared with
the other lines); only the head of this line is fitted on the labelled crops.
"""
import math

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES = ["ok", "scratch", "dent", "stain", "crack", "burr"]
SIZE = 40


class CropDataset(Dataset):
    """Procedural surface crops; the same index always gives the same crop."""

    def __init__(self, n, seed):
        self.n, self.seed = n, seed
        axis = torch.linspace(-1, 1, SIZE)
        self.yy, self.xx = torch.meshgrid(axis, axis, indexing="ij")

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 1_000_003 + i)
        label = i % len(CLASSES)
        cx, cy, angle = (torch.rand(3, generator=g) - 0.5).tolist()
        image = 0.12 * torch.randn(3, SIZE, SIZE, generator=g)
        u = (self.xx - cx) * math.cos(3 * angle) + (self.yy - cy) * math.sin(3 * angle)
        v = (self.yy - cy) * math.cos(3 * angle) - (self.xx - cx) * math.sin(3 * angle)
        if label == 1:
            image += torch.exp(-(u * 18) ** 2)
        elif label == 2:
            image -= torch.exp(-(u ** 2 + v ** 2) * 8)
        elif label == 3:
            image[0] += 0.8 * torch.exp(-(u ** 2 + (v * 2) ** 2) * 5)
        elif label == 4:
            image -= torch.exp(-((u + 0.2 * torch.sin(7 * v)) * 16) ** 2)
        elif label == 5:
            image[:, :4] += 0.9
        return image, label


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(cout)
        self.skip = nn.Conv2d(cin, cout, 1, stride, bias=False)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.skip(x))


class Backbone(nn.Module):
    width = 128

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 24, 3, 1, 1)
        self.stages = nn.Sequential(
            Block(24, 32, 2), Block(32, 32, 1), Block(32, 64, 2),
            Block(64, 64, 1), Block(64, self.width, 2),
        )

    def forward(self, x):
        x = self.stages(F.relu(self.stem(x)))
        return torch.cat([x.mean((2, 3)), x.amax((2, 3))], dim=1)


class DefectModel(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(
            nn.LayerNorm(2 * Backbone.width), nn.Linear(2 * Backbone.width, 64),
            nn.GELU(), nn.Dropout(0.1), nn.Linear(64, len(CLASSES)),
        )

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            features = self.backbone(x)
        return self.head(features)


def pretrained_backbone():
    torch.manual_seed(2024)
    return Backbone()


def fit(model, loader, epochs, lr):
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=lr, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=lr, total_steps=epochs * len(loader))
    for epoch in range(epochs):
        model.train()
        running = torch.zeros(())
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels, label_smoothing=0.05)
            model.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.head.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            running += loss.detach()
        print(f"epoch {epoch}: loss {float(running) / len(loader):.3f}")


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    confusion = torch.zeros(len(CLASSES), len(CLASSES), dtype=torch.long)
    for images, labels in loader:
        predicted = model(images).argmax(1)
        confusion.index_put_((labels, predicted), torch.ones_like(labels), accumulate=True)
    return confusion


def main():
    backbone = pretrained_backbone()
    torch.manual_seed(7)
    model = DefectModel(backbone)
    shuffle = torch.Generator().manual_seed(3)
    train_loader = DataLoader(CropDataset(320, seed=1), batch_size=32, shuffle=True,
                              generator=shuffle)
    test_loader = DataLoader(CropDataset(120, seed=2), batch_size=120)

    fit(model, train_loader, epochs=4, lr=3e-3)
    confusion = evaluate(model, test_loader)
    recall = confusion.diag().float() / confusion.sum(1)
    for name, value in zip(CLASSES, recall.tolist()):
        print(f"{name:8s} recall {value:.2f}")
    print(f"accuracy {float(confusion.diag().sum()) / float(confusion.sum()):.2f}")


if __name__ == "__main__":
    main()
