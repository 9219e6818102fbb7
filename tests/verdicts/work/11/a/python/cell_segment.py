"""Segments cells in microscope images with a small U-Net.

The images are drawn: bright blurred ellipses on an uneven background, with noise."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SIZE = 96
IMAGES = 104
TEST_IMAGES = 24
BATCH = 8
EPOCHS = 2
WIDTHS = (12, 24, 48)


def draw_image(rng, rows, columns):
    """An image and the mask of its cells."""
    image = 0.2 + 0.15 * rng.random() * rows / SIZE + 0.1 * rng.random() * columns / SIZE
    mask = np.zeros((SIZE, SIZE), bool)
    for _ in range(rng.integers(4, 10)):
        y, x = rng.uniform(8, SIZE - 8, 2)
        a, b = rng.uniform(5, 13), rng.uniform(4, 9)
        turn = rng.uniform(0, np.pi)
        u = (rows - y) * np.cos(turn) + (columns - x) * np.sin(turn)
        v = (columns - x) * np.cos(turn) - (rows - y) * np.sin(turn)
        distance = (u / a) ** 2 + (v / b) ** 2
        image = image + rng.uniform(0.25, 0.6) * np.exp(-(distance**2))
        mask |= distance < 0.9
    image = image + rng.normal(0, 0.08, image.shape)
    return image.astype(np.float32), mask.astype(np.float32)


def make_images(count, seed):
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    images, masks = zip(*(draw_image(rng, rows, columns) for _ in range(count)))
    images, masks = (torch.from_numpy(np.stack(part))[:, None] for part in (images, masks))
    return (images - images.mean()) / images.std(), masks


def double_conv(before, after):
    return nn.Sequential(
        nn.Conv2d(before, after, 3, padding=1, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(inplace=True),
        nn.Conv2d(after, after, 3, padding=1, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList(double_conv(a, b) for a, b in zip((1,) + WIDTHS, WIDTHS))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in zip(WIDTHS, WIDTHS[1:]))
        self.join = nn.ModuleList(double_conv(2 * a, a) for a in WIDTHS[:-1])
        self.last = nn.Conv2d(WIDTHS[0], 1, 1)

    def forward(self, x):
        skipped = []
        for level, block in enumerate(self.down):
            x = block(x if level == 0 else F.max_pool2d(x, 2))
            skipped.append(x)
        skipped.pop()
        for up, join in zip(reversed(self.up), reversed(self.join)):
            x = join(torch.cat([up(x), skipped.pop()], dim=1))
        return self.last(x)


def loss_of(logits, masks):
    """Cross-entropy and one minus the soft Dice score."""
    inside = torch.sigmoid(logits)
    overlap = (inside * masks).sum(dim=(1, 2, 3))
    area = inside.sum(dim=(1, 2, 3)) + masks.sum(dim=(1, 2, 3))
    dice = (2 * overlap + 1) / (area + 1)
    return F.binary_cross_entropy_with_logits(logits, masks) + (1 - dice).mean()


def augment(images, masks, generator):
    """Flips, the same for the whole batch."""
    flip = torch.randint(0, 2, (2,), generator=generator).tolist()
    axes = [axis for axis, wanted in zip((2, 3), flip) if wanted]
    return (images.flip(axes), masks.flip(axes)) if axes else (images, masks)


def train(model, images, masks):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(9)
    model.train()
    for _ in range(EPOCHS):
        total = 0.0
        for rows in torch.randperm(len(images), generator=generator).split(BATCH):
            batch, target = augment(images[rows], masks[rows], generator)
            loss = loss_of(model(batch), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
    return total / len(images)


def evaluate(model, images, masks):
    """Mean intersection over union."""
    model.eval()
    with torch.inference_mode():
        found = torch.cat([model(part) for part in images.split(BATCH)]) > 0
    wanted = masks > 0.5
    both = (found & wanted).sum(dim=(1, 2, 3)).float()
    either = (found | wanted).sum(dim=(1, 2, 3)).float()
    return (both / either).mean().item()


def main():
    torch.manual_seed(33)
    torch.set_num_threads(1)
    images, masks = make_images(IMAGES, seed=50)
    test_images, test_masks = make_images(TEST_IMAGES, seed=51)
    model = UNet()
    loss = train(model, images, masks)
    print(f"images {IMAGES}, epochs {EPOCHS}, last loss {loss:.4f}")
    print(f"intersection over union {evaluate(model, test_images, test_masks):.4f}")


if __name__ == "__main__":
    main()
