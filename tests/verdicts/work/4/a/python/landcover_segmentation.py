"""Trains a small U-Net to segment land cover in aerial tiles."""
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES = 4
SIZE = 96
TILES = 112
EPOCHS = 2


def render_tiles(count, seed):
    """Label maps from smooth random fields, and four-band images of them."""
    g = torch.Generator().manual_seed(seed)
    field = torch.randn(count, CLASSES, 7, 7, generator=g)
    field = F.interpolate(field, size=(SIZE, SIZE), mode="bicubic", align_corners=True)
    labels = field.argmax(1)
    colours = torch.tensor([[0.2, 0.3, 0.5, 0.1], [0.2, 0.5, 0.2, 0.8],
                            [0.6, 0.5, 0.4, 0.4], [0.5, 0.5, 0.5, 0.2]])
    images = colours[labels].permute(0, 3, 1, 2)
    light = 0.8 + 0.4 * torch.rand(count, 1, 1, 1, generator=g)
    images = images * light + 0.12 * torch.randn(images.shape, generator=g)
    return images.contiguous(), labels


class Tiles(Dataset):
    def __init__(self, images, labels, augment):
        self.images, self.labels, self.augment = images, labels, augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image, label = self.images[i], self.labels[i]
        if self.augment:
            turn, flip = (i * 7 + 3) % 4, i % 2 == 0
            image, label = torch.rot90(image, turn, (1, 2)), torch.rot90(label, turn, (0, 1))
            if flip:
                image, label = image.flip(2), label.flip(1)
        return image, label


def convs(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        w = width
        self.down1, self.down2, self.bottom = convs(4, w), convs(w, 2 * w), convs(2 * w, 4 * w)
        self.up2 = nn.ConvTranspose2d(4 * w, 2 * w, 2, stride=2)
        self.merge2 = convs(4 * w, 2 * w)
        self.up1 = nn.ConvTranspose2d(2 * w, w, 2, stride=2)
        self.merge1 = convs(2 * w, w)
        self.head = nn.Conv2d(w, CLASSES, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.bottom(F.max_pool2d(b, 2))
        b = self.merge2(torch.cat([self.up2(c), b], 1))
        a = self.merge1(torch.cat([self.up1(b), a], 1))
        return self.head(a)


class DiceCrossEntropy(nn.Module):
    def __init__(self, weight=0.5):
        super().__init__()
        self.weight = weight

    def forward(self, logits, labels):
        ce = F.cross_entropy(logits, labels)
        probs = logits.softmax(1)
        onehot = F.one_hot(labels, CLASSES).permute(0, 3, 1, 2).to(probs.dtype)
        overlap = (probs * onehot).sum((0, 2, 3))
        size = (probs + onehot).sum((0, 2, 3))
        dice = 1 - (2 * overlap + 1) / (size + 1)
        return ce + self.weight * dice.mean()


class Confusion:
    def __init__(self):
        self.counts = torch.zeros(CLASSES, CLASSES, dtype=torch.long)

    def update(self, predicted, labels):
        index = labels.flatten() * CLASSES + predicted.flatten()
        self.counts += torch.bincount(index, minlength=CLASSES ** 2).view(CLASSES, CLASSES)

    def mean_iou(self):
        hit = self.counts.diagonal().double()
        union = self.counts.sum(0) + self.counts.sum(1) - hit
        return (hit / union).mean().item()


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    confusion = Confusion()
    for images, labels in loader:
        confusion.update(model(images).argmax(1), labels)
    return confusion.mean_iou()


def main():
    torch.manual_seed(0)
    shuffle = torch.Generator().manual_seed(2)
    train = DataLoader(Tiles(*render_tiles(TILES, 1), augment=True), batch_size=16, shuffle=True,
                       generator=shuffle, drop_last=True)
    test = DataLoader(Tiles(*render_tiles(32, 2), augment=False), batch_size=16)
    model = UNet()
    criterion = DiceCrossEntropy()
    opt = torch.optim.SGD(model.parameters(), lr=0.08, momentum=0.9, nesterov=True, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.PolynomialLR(opt, EPOCHS * len(train), power=0.9)
    for epoch in range(EPOCHS):
        model.train()
        total = 0.0
        for images, labels in train:
            loss = criterion(model(images), labels)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(train):.3f}")
    print(f"mean IoU {evaluate(model, test):.3f}")


if __name__ == "__main__":
    main()
