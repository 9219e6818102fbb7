"""Adapts a pretrained convolutional backbone to surface-defect classes.

Only the classification head is trained; the backbone keeps its weights. Images
are generated, and augmented with flips and shifts on every pass.
"""
import torch
from torch import nn
from torch.nn import functional as F

CLASSES = 6
SIZE = 48


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(cout)
        self.skip = nn.Conv2d(cin, cout, 1, stride, bias=False) if stride != 1 or cin != cout else nn.Identity()

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.skip(x))


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 24, 3, 1, 1)
        self.blocks = nn.Sequential(Block(24, 24, 2), Block(24, 48, 2), Block(48, 96, 2))

    def forward(self, x):
        return self.blocks(F.relu(self.stem(x))).mean((2, 3))


class DefectClassifier(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(nn.LayerNorm(96), nn.Linear(96, 96), nn.GELU(), nn.Linear(96, CLASSES))

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            features = self.backbone(x)
        return self.head(features)


def make_images(count, generator):
    """Textures with one of six defects: scratch, dent, stain, grid, burr or none."""
    labels = torch.randint(CLASSES, (count,), generator=generator)
    images = 0.25 * torch.randn(count, 1, SIZE, SIZE, generator=generator)
    axis = torch.linspace(-1, 1, SIZE)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    centre = torch.rand(count, 2, generator=generator) - 0.5
    for i in range(count):
        cx, cy = centre[i].tolist()
        r2 = (xx - cx) ** 2 + (yy - cy) ** 2
        shape = {
            0: torch.exp(-((yy - cy - 0.4 * (xx - cx)) ** 2) * 300),
            1: torch.exp(-r2 * 30) - torch.exp(-r2 * 12),
            2: torch.exp(-r2 * 5),
            3: torch.sin(xx * 24) * torch.sin(yy * 24) * 0.6,
            4: torch.sin(torch.atan2(yy - cy, xx - cx) * 8) * torch.exp(-r2 * 8),
            5: torch.zeros_like(xx),
        }[int(labels[i])]
        images[i, 0] += shape
    return images, labels


def augment(images, generator):
    if torch.rand((), generator=generator) < 0.5:
        images = images.flip(3)
    if torch.rand((), generator=generator) < 0.5:
        images = images.flip(2)
    dx, dy = torch.randint(-4, 5, (2,), generator=generator).tolist()
    images = torch.roll(images, (dy, dx), (2, 3))
    return images * (0.9 + 0.2 * torch.rand(len(images), 1, 1, 1, generator=generator))


def load_backbone():
    """Weights as they come from the shared checkpoint."""
    torch.manual_seed(77)
    backbone = Backbone()
    with torch.no_grad():
        for m in backbone.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.running_var.fill_(0.6)
                m.bias.normal_(0, 0.05)
    return backbone


@torch.no_grad()
def evaluate(model, images, labels):
    model.eval()
    guess = torch.cat([model(part).argmax(1) for part in images.split(100)])
    model.train()
    return float((guess == labels).float().mean())


def main():
    generator = torch.Generator().manual_seed(3)
    train_x, train_y = make_images(640, generator)
    valid_x, valid_y = make_images(200, generator)
    model = DefectClassifier(load_backbone())
    model.train()
    epochs, batch = 4, 32
    optimizer = torch.optim.SGD(model.head.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * (len(train_x) // batch))

    for epoch in range(epochs):
        total = 0.0
        for index in torch.randperm(len(train_x), generator=generator).split(batch):
            images = augment(train_x[index], generator)
            loss = F.cross_entropy(model(images), train_y[index], label_smoothing=0.05)
            model.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.head.parameters(), 2.0)
            optimizer.step()
            schedule.step()
            total += float(loss.detach()) * len(index)
        print(f"epoch {epoch} loss {total / len(train_x):.2f}")
    print(f"validation accuracy {evaluate(model, valid_x, valid_y):.2f}")


if __name__ == "__main__":
    main()
