"""Segments lesions in synthetic brain slices with a small U-Net; the loss is
cross-entropy plus soft Dice, the score is Dice on slices held out."""
import torch
from torch import nn

SIZE = 64
SLICES = 128
HELD_OUT = 24
BATCH = 8
EPOCHS = 2
WIDTH = 14


def ellipse(x, y, cx, cy, rx, ry, angle):
    c, s = torch.cos(angle), torch.sin(angle)
    u = (x - cx) * c + (y - cy) * s
    v = (y - cy) * c - (x - cx) * s
    return (u / rx) ** 2 + (v / ry) ** 2 < 1


def make_slices(count, generator):
    """Skull, brain and ventricles, with up to three lesions, blurred."""
    axis = torch.linspace(-1, 1, SIZE)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    x, y = x.expand(count, SIZE, SIZE), y.expand(count, SIZE, SIZE)

    def uniform(low, high):
        return low + (high - low) * torch.rand(count, 1, 1, generator=generator)

    angle = uniform(-0.3, 0.3)
    cx, cy = uniform(-0.06, 0.06), uniform(-0.06, 0.06)
    rx, ry = uniform(0.68, 0.78), uniform(0.8, 0.9)
    image = 0.9 * ellipse(x, y, cx, cy, rx, ry, angle).float()
    brain = ellipse(x, y, cx, cy, rx - 0.08, ry - 0.08, angle)
    image = torch.where(brain, torch.full_like(image, 0.5), image)
    for side in (-1, 1):
        ventricle = ellipse(x, y, cx + side * 0.14, cy, uniform(0.06, 0.1), uniform(0.2, 0.28), angle)
        image = torch.where(ventricle, torch.full_like(image, 0.15), image)
    mask = torch.zeros(count, SIZE, SIZE, dtype=torch.bool)
    for _ in range(3):
        radius = uniform(0.04, 0.16)
        spot = ellipse(x, y, uniform(-0.45, 0.45), uniform(-0.5, 0.5), radius, radius * uniform(0.6, 1.4), angle)
        present = torch.rand(count, 1, 1, generator=generator) < 0.6
        mask |= spot & present & brain
    image = torch.where(mask, image + 0.18, image)
    image = nn.functional.avg_pool2d(image.unsqueeze(1), 3, stride=1, padding=1)
    image += 0.05 * torch.randn(count, 1, SIZE, SIZE, generator=generator)
    return (image - image.mean(dim=(2, 3), keepdim=True)) / image.std(dim=(2, 3), keepdim=True), mask.unsqueeze(1).float()


def double_conv(inside, outside):
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, padding=1, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(inplace=True),
        nn.Conv2d(outside, outside, 3, padding=1, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        widths = [WIDTH * 2**level for level in range(depth + 1)]
        self.down = nn.ModuleList(double_conv(i, o) for i, o in zip([1] + widths[:-2], widths[:-1]))
        self.bottom = double_conv(widths[-2], widths[-1])
        pairs = list(zip(widths[:0:-1], widths[-2::-1]))
        self.raise_ = nn.ModuleList(nn.ConvTranspose2d(i, o, 2, stride=2) for i, o in pairs)
        self.up = nn.ModuleList(double_conv(2 * o, o) for _, o in pairs)
        self.head = nn.Conv2d(WIDTH, 1, 1)

    def forward(self, x):
        kept = []
        for block in self.down:
            x = block(x)
            kept.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.bottom(x)
        for raise_, block in zip(self.raise_, self.up):
            x = block(torch.cat([raise_(x), kept.pop()], dim=1))
        return self.head(x)


def soft_dice(logits, mask):
    p = logits.sigmoid().flatten(1)
    m = mask.flatten(1)
    return 1 - ((2 * (p * m).sum(1) + 1) / (p.sum(1) + m.sum(1) + 1)).mean()


def train_epoch(model, images, masks, optimizer, generator):
    total = 0.0
    for rows in torch.randperm(len(images), generator=generator).split(BATCH):
        flip = bool(torch.randint(0, 2, (1,), generator=generator))
        image, mask = images[rows], masks[rows]
        if flip:
            image, mask = image.flip(3), mask.flip(3)
        logits = model(image)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, mask) + soft_dice(logits, mask)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    return total / len(images)


@torch.inference_mode()
def dice(model, images, masks):
    model.eval()
    predicted = torch.cat([model(part) for part in images.split(BATCH)]) > 0
    model.train()
    truth = masks > 0.5
    overlap = (predicted & truth).sum()
    return (2 * overlap / (predicted.sum() + truth.sum())).item()


def main():
    torch.manual_seed(31)
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(14)
    images, masks = make_slices(SLICES, generator)
    test_images, test_masks = make_slices(HELD_OUT, generator)
    model = UNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = [train_epoch(model, images, masks, optimizer, generator) for _ in range(EPOCHS)]
    print(f"slices {SLICES}, lesion share {masks.mean():.4f}")
    print("losses " + " ".join(f"{loss:.4f}" for loss in losses))
    print(f"held-out dice {dice(model, test_images, test_masks):.3f}")


if __name__ == "__main__":
    main()
