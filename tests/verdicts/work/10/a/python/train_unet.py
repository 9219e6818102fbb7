"""Trains a small U-Net that segments weld seams in synthetic X-ray tiles."""
import torch
from torch import nn
from torch.nn import functional as F

SIZE = 64
BATCH = 16
STEPS = 66
WIDTH = 8


def conv_block(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, width=WIDTH):
        super().__init__()
        self.down1 = conv_block(1, width)
        self.down2 = conv_block(width, 2 * width)
        self.down3 = conv_block(2 * width, 4 * width)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.merge2 = conv_block(4 * width, 2 * width)
        self.up1 = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.merge1 = conv_block(2 * width, width)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.down3(F.max_pool2d(b, 2))
        b = self.merge2(torch.cat([self.up2(c), b], dim=1))
        a = self.merge1(torch.cat([self.up1(b), a], dim=1))
        return self.out(a)


class TileSource:
    """Draws batches of tiles: a curved seam on a noisy, shaded background."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)
        axis = torch.arange(SIZE, dtype=torch.float32)
        self.y, self.x = torch.meshgrid(axis, axis, indexing="ij")

    def uniform(self, low, high, count):
        return (low + (high - low) * torch.rand(count, generator=self.gen))[:, None, None]

    def batch(self, count):
        slope = self.uniform(-0.6, 0.6, count)
        offset = self.uniform(16, 48, count)
        bend = self.uniform(-6, 6, count)
        width = self.uniform(2.0, 5.0, count)
        phase = self.uniform(0, 6.28, count)
        centre = offset + slope * (self.x - SIZE / 2) + bend * torch.sin(self.x * 0.1 + phase)
        mask = ((self.y - centre).abs() < width).float()
        shade = self.uniform(-0.01, 0.01, count) * self.x + self.uniform(-0.01, 0.01, count) * self.y
        noise = 0.35 * torch.randn(count, SIZE, SIZE, generator=self.gen)
        return (0.5 * mask + shade + noise).unsqueeze(1), mask.unsqueeze(1)


def seam_loss(logits, mask):
    probability = torch.sigmoid(logits)
    overlap = 2 * (probability * mask).sum(dim=(1, 2, 3)) + 1
    dice = 1 - overlap / (probability.sum(dim=(1, 2, 3)) + mask.sum(dim=(1, 2, 3)) + 1)
    return F.binary_cross_entropy_with_logits(logits, mask) + dice.mean()


def intersection_over_union(model, source, batches=6):
    model.eval()
    both = either = 0.0
    with torch.inference_mode():
        for _ in range(batches):
            image, mask = source.batch(BATCH)
            found = model(image) > 0
            both += (found & (mask > 0.5)).sum()
            either += (found | (mask > 0.5)).sum()
    return float(both / either)


def main():
    torch.manual_seed(0)
    model = UNet()
    source = TileSource(1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    losses = []
    model.train()
    for step in range(STEPS):
        image, mask = source.batch(BATCH)
        loss = seam_loss(model(image), mask)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.detach())
        if step % 22 == 21:
            print(f"step {step + 1:>4}: loss {torch.stack(losses[-22:]).mean():.4f}")
    print(f"held-out IoU {intersection_over_union(model, TileSource(2)):.3f}")


if __name__ == "__main__":
    main()
