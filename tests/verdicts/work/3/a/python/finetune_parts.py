"""Adapts a pretrained feature extractor to sort photos of machine parts: only
the new classification head is trained."""
import torch
from torch import nn
from torch.nn import functional as F

CLASSES = 6
SIZE = 48


class ConvBlock(nn.Module):
    def __init__(self, inside, outside, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outside)
        self.skip = nn.Conv2d(inside, outside, 1, stride, bias=False)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.skip(x))


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 1, 1)
        self.blocks = nn.Sequential(ConvBlock(16, 24, 2), ConvBlock(24, 32, 2), ConvBlock(32, 64, 2))

    def forward(self, x):
        return self.blocks(F.relu(self.stem(x))).mean(dim=(2, 3))


class PartSorter(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, CLASSES))

    def forward(self, images):
        return self.head(self.backbone(images))


def pretrained_backbone():
    torch.manual_seed(100)
    backbone = Backbone()
    for module in backbone.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    return backbone.eval()


def photos(count, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, CLASSES, (count,), generator=g)
    axis = torch.linspace(-1, 1, SIZE)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    angle = labels.view(-1, 1, 1) * (3.14159 / CLASSES)
    stripes = torch.sin(14 * (xx * torch.cos(angle) + yy * torch.sin(angle)))
    images = 0.5 * torch.rand(count, 3, SIZE, SIZE, generator=g) + 0.5 * stripes.unsqueeze(1)
    return images, labels


def augment(images, g):
    if torch.rand(1, generator=g).item() < 0.5:
        images = images.roll(int(torch.randint(-4, 5, (1,), generator=g)), dims=3)
    gain = 0.8 + 0.4 * torch.rand(len(images), 1, 1, 1, generator=g)
    return images * gain + 0.05 * torch.randn(images.shape, generator=g)


def make_optimizer(model):
    return torch.optim.AdamW(model.head.parameters(), lr=3e-3)


def train(model, images, labels, epochs, batch):
    g = torch.Generator().manual_seed(9)
    optimizer = make_optimizer(model)
    for epoch in range(epochs):
        model.head.train()
        order = torch.randperm(len(labels), generator=g)
        total = 0.0
        for pick in order.split(batch):
            loss = F.cross_entropy(model(augment(images[pick], g)), labels[pick])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            total += loss.item() * len(pick)
        print(f"epoch {epoch} loss {total / len(labels):.4f}")


@torch.no_grad()
def accuracy(model, images, labels):
    model.eval()
    right = 0
    for part, truth in zip(images.split(128), labels.split(128)):
        right += (model(part).argmax(1) == truth).sum().item()
    return right / len(labels)


def main():
    model = PartSorter(pretrained_backbone())
    torch.manual_seed(101)
    images, labels = photos(560, seed=1)
    held, truth = photos(200, seed=2)
    train(model, images, labels, epochs=6, batch=32)
    print(f"accuracy {accuracy(model, held, truth):.4f}")


if __name__ == "__main__":
    main()
