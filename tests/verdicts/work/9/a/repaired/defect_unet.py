"""Segments scratches on steel sheets with a small U-Net."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 48


def render_sheet(rng):
    """A brushed-metal texture with a few scratches; returns image and mask."""
    image = rng.normal(0.5, 0.08, (SIZE, SIZE))
    image = (image + np.roll(image, 1, 1) + np.roll(image, 2, 1)) / 3
    mask = np.zeros((SIZE, SIZE))
    for _ in range(rng.integers(1, 4)):
        x, y = rng.uniform(4, SIZE - 4, 2)
        angle = rng.uniform(0, np.pi)
        length = int(rng.integers(10, 30))
        for t in np.linspace(0, length, 2 * length):
            i = int(round(y + t * np.sin(angle)))
            j = int(round(x + t * np.cos(angle)))
            if 0 <= i < SIZE and 0 <= j < SIZE:
                image[i, j] += rng.uniform(0.15, 0.35)
                mask[max(0, i - 1):i + 1, j] = 1
    return image, mask


class SheetDataset(Dataset):
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        pairs = [render_sheet(rng) for _ in range(count)]
        self.images = np.stack([p[0] for p in pairs]).astype(np.float32)
        self.masks = np.stack([p[1] for p in pairs]).astype(np.float32)
        self.mean, self.std = self.images.mean(), self.images.std()

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = (self.images[i] - self.mean) / self.std
        return torch.from_numpy(image)[None], torch.from_numpy(self.masks[i])[None]


def conv_block(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, widths=(12, 24, 48)):
        super().__init__()
        self.down = nn.ModuleList()
        last = 1
        for w in widths:
            self.down.append(conv_block(last, w))
            last = w
        self.up, self.merge = nn.ModuleList(), nn.ModuleList()
        for w in reversed(widths[:-1]):
            self.up.append(nn.ConvTranspose2d(last, w, 2, stride=2))
            self.merge.append(conv_block(2 * w, w))
            last = w
        self.head = nn.Conv2d(last, 1, 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            if i:
                x = F.max_pool2d(x, 2)
            x = block(x)
            skips.append(x)
        for up, merge, skip in zip(self.up, self.merge, reversed(skips[:-1])):
            x = merge(torch.cat([up(x), skip], dim=1))
        return self.head(x)


def dice_loss(logits, target, eps=1.0):
    p = torch.sigmoid(logits)
    inter = (p * target).sum((1, 2, 3))
    return 1 - ((2 * inter + eps) / (p.sum((1, 2, 3)) + target.sum((1, 2, 3)) + eps)).mean()


@torch.no_grad()
def intersection_over_union(model, loader):
    model.eval()
    inter = union = 0.0
    for image, mask in loader:
        guess = model(image) > 0
        truth = mask > 0.5
        inter += (guess & truth).sum().item()
        union += (guess | truth).sum().item()
    model.train()
    return inter / union


def fit(model, train_loader, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=6e-3, total_steps=epochs * len(train_loader))
    losses = []
    for _ in range(epochs):
        total = 0.0
        for image, mask in train_loader:
            logits = model(image)
            loss = F.binary_cross_entropy_with_logits(logits, mask) + dice_loss(logits, mask)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        losses.append(total / len(train_loader))
    return losses


def main():
    torch.manual_seed(21)
    train_set, test_set = SheetDataset(112, 1), SheetDataset(48, 2)
    order = torch.Generator().manual_seed(22)
    train_loader = DataLoader(train_set, batch_size=16, shuffle=True, generator=order)
    test_loader = DataLoader(test_set, batch_size=32)

    sample, _ = train_set[0]
    model = UNet().to(sample.dtype)
    losses = fit(model, train_loader, epochs=4)
    print("loss " + " ".join(f"{v:.2f}" for v in losses))
    print(f"test IoU {intersection_over_union(model, test_loader):.1f}")


if __name__ == "__main__":
    main()
