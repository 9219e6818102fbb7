"""Lesion segmentation on CT slices: trains a small U-Net and reports Dice.

The slices are synthetic phantoms (body outline, organs, bright lesions, scanner
noise).  Intensities are windowed and standardised as for the clinical data.
"""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, Subset

SIZE = 64
SLICES = 120
EPOCHS = 5
WINDOW = (-150.0, 250.0)  # Hounsfield units


def phantom(rng):
    """One slice in Hounsfield units and its lesion mask."""
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE - 0.5
    image = np.full((SIZE, SIZE), -1000.0)
    body = (x / 0.45) ** 2 + (y / 0.38) ** 2 < 1
    image[body] = 30.0
    for _ in range(4):
        cx, cy = rng.uniform(-0.25, 0.25, 2)
        a, b = rng.uniform(0.06, 0.14, 2)
        organ = ((x - cx) / a) ** 2 + ((y - cy) / b) ** 2 < 1
        image[organ & body] = rng.uniform(40, 90)
    mask = np.zeros((SIZE, SIZE))
    for _ in range(rng.integers(1, 4)):
        cx, cy = rng.uniform(-0.22, 0.22, 2)
        angle, r = rng.uniform(0, np.pi), rng.uniform(0.04, 0.09)
        u = (x - cx) * np.cos(angle) + (y - cy) * np.sin(angle)
        v = (y - cy) * np.cos(angle) - (x - cx) * np.sin(angle)
        lesion = (u / r) ** 2 + (v / (0.7 * r)) ** 2 < 1
        image[lesion] = rng.uniform(160, 210)
        mask[lesion] = 1.0
    return image + rng.normal(0, 25, image.shape), mask


class SliceDataset(Dataset):
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        pairs = [phantom(rng) for _ in range(SLICES)]
        images = np.stack([np.clip(image, *WINDOW) for image, _ in pairs])
        self.images = (images - images.mean()) / images.std()
        self.masks = np.stack([mask for _, mask in pairs])
        self.augment = True

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image, mask = self.images[i], self.masks[i]
        if self.augment and torch.rand(()) < 0.5:
            image, mask = image[:, ::-1].copy(), mask[:, ::-1].copy()
        return torch.from_numpy(image)[None], torch.from_numpy(mask)[None]


def double_conv(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down1 = double_conv(1, width)
        self.down2 = double_conv(width, 2 * width)
        self.bottom = double_conv(2 * width, 4 * width)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.join2 = double_conv(4 * width, 2 * width)
        self.up1 = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.join1 = double_conv(2 * width, width)
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.bottom(F.max_pool2d(b, 2))
        b = self.join2(torch.cat([self.up2(c), b], dim=1))
        a = self.join1(torch.cat([self.up1(b), a], dim=1))
        return self.head(a)


def dice_loss(logits, mask):
    p = logits.sigmoid()
    overlap = (p * mask).sum(dim=(1, 2, 3))
    return 1 - ((2 * overlap + 1) / (p.sum(dim=(1, 2, 3)) + mask.sum(dim=(1, 2, 3)) + 1)).mean()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    overlap = total = lesions = found = 0
    for image, mask in loader:
        predicted = model(image) > 0
        truth = mask > 0.5
        hit = (predicted & truth).sum(dim=(1, 2, 3))
        overlap += 2 * hit.sum().item()
        total += predicted.sum().item() + truth.sum().item()
        lesions += len(mask)
        found += (hit > 0.5 * truth.sum(dim=(1, 2, 3))).sum().item()
    return overlap / total, found / lesions


def main():
    torch.manual_seed(8)
    dataset = SliceDataset(seed=12)
    order = torch.randperm(len(dataset)).tolist()
    train, held = Subset(dataset, order[36:]), Subset(dataset, order[:36])
    train_loader = DataLoader(train, batch_size=6, shuffle=True)
    held_loader = DataLoader(held, batch_size=12)
    model = UNet().double()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, total_steps=EPOCHS * len(train_loader))
    for _ in range(EPOCHS):
        model.train()
        dataset.augment = True
        for image, mask in train_loader:
            logits = model(image)
            loss = dice_loss(logits, mask) + F.binary_cross_entropy_with_logits(logits, mask)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
    dataset.augment = False
    dice, sensitivity = evaluate(model, held_loader)
    print(f"slices {len(train)} + {len(held)}  parameters {sum(p.numel() for p in model.parameters())}")
    print(f"held-out Dice {dice:.2f}  slices with the lesions found {sensitivity:.2f}")


if __name__ == "__main__":
    main()
