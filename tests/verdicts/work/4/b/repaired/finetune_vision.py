"""Adapt a pretrained backbone to a new set of part photos: only the new head
is trained, with label smoothing and light augmentation."""
import torch
import torch.nn.functional as F
from torch import nn

SIZE = 28
CLASSES = 6
TRAIN, VALID = 320, 128
BATCH = 32
EPOCHS = 4


def conv_block(cin, cout, stride=1):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True)
    )


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = conv_block(channels, channels)
        self.second = nn.Sequential(
            nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels)
        )

    def forward(self, x):
        return F.relu(x + self.second(self.first(x)))


class Backbone(nn.Module):
    features = 128

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            conv_block(3, 32),
            Residual(32),
            conv_block(32, 64, 2),
            Residual(64),
            conv_block(64, 128, 2),
            Residual(128),
        )

    def forward(self, x):
        return self.layers(x).mean((2, 3))


class PartClassifier(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone.requires_grad_(False)
        self.head = nn.Sequential(
            nn.BatchNorm1d(Backbone.features),
            nn.Linear(Backbone.features, 96),
            nn.GELU(),
            nn.Linear(96, CLASSES),
        )

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()  # keep the pretrained statistics
        return self

    def forward(self, x):
        return self.head(self.backbone(x))


def load_backbone():
    """Stands in for the weights of the shared model zoo."""
    torch.manual_seed(1234)
    backbone = Backbone()
    with torch.no_grad():
        backbone.train()
        for _ in range(4):
            backbone(torch.randn(16, 3, SIZE, SIZE))
    return backbone


def render(count, seed):
    """Images of striped, dotted or shaded parts, one texture per class."""
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(0, CLASSES, (count,), generator=g)
    y, x = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    angle = (label % 3).float()[:, None, None] * 1.05
    freq = (0.35 + 0.3 * (label // 3).float())[:, None, None]
    phase = torch.rand(count, 1, 1, generator=g) * 6.28
    wave = torch.sin(freq * (x * torch.cos(angle) + y * torch.sin(angle)) + phase)
    tint = 0.6 + 0.4 * torch.rand(count, 3, 1, 1, generator=g)
    noise = 0.3 * torch.randn(count, 3, SIZE, SIZE, generator=g)
    return wave[:, None] * tint + noise, label


def augment(images, g):
    dx, dy = torch.randint(-3, 4, (2,), generator=g).tolist()
    images = torch.roll(images, (dy, dx), (2, 3))
    gain = 0.8 + 0.4 * torch.rand(len(images), 1, 1, 1, generator=g)
    return images * gain


@torch.inference_mode()
def accuracy(model, images, label):
    model.eval()
    hits = sum(
        (model(x).argmax(1) == y).sum() for x, y in zip(images.split(64), label.split(64))
    )
    model.train()
    return hits.item() / len(label)


def finetune():
    backbone = load_backbone()
    torch.manual_seed(5)
    model = PartClassifier(backbone).train()
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * (TRAIN // BATCH))
    images, label = render(TRAIN, 21)
    valid = render(VALID, 22)
    g = torch.Generator().manual_seed(6)
    for epoch in range(EPOCHS):
        order = torch.randperm(TRAIN, generator=g)
        total = torch.zeros(())
        for pick in order.split(BATCH):
            logits = model(augment(images[pick], g))
            loss = F.cross_entropy(logits, label[pick], label_smoothing=0.05)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.detach()
        print(
            f"epoch {epoch}: loss {total.item() / (TRAIN // BATCH):.3f} "
            f"valid accuracy {accuracy(model, *valid):.3f}"
        )


if __name__ == "__main__":
    finetune()
