"""Train a small U-Net that separates cells, borders and background in
microscope tiles."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

TILE = 48
TILES, VALID = 72, 24
BATCH = 8
EPOCHS = 3
CLASSES = 3


def draw_tile(rng):
    """Bright blobs with dark rims over uneven light; returns image and mask."""
    y, x = np.mgrid[0:TILE, 0:TILE]
    image = 0.2 + 0.15 * np.sin(x / 25 + rng.uniform(0, 6)) * np.cos(y / 30)
    mask = np.zeros((TILE, TILE), dtype=np.int64)
    for _ in range(rng.integers(3, 7)):
        cx, cy = rng.uniform(4, TILE - 4, 2)
        a, b = rng.uniform(4, 9, 2)
        turn = rng.uniform(0, np.pi)
        u = (x - cx) * np.cos(turn) + (y - cy) * np.sin(turn)
        v = (y - cy) * np.cos(turn) - (x - cx) * np.sin(turn)
        r = np.sqrt((u / a) ** 2 + (v / b) ** 2)
        image = np.where(r < 1, 0.6 + 0.1 * np.cos(3 * r), image)
        image = np.where((r >= 0.85) & (r < 1.1), 0.1, image)
        mask[r < 1.1] = 2
        mask[r < 0.85] = 1
    image = image + rng.normal(0, 0.12, image.shape)
    return image, mask


def build_set(count, seed):
    rng = np.random.default_rng(seed)
    tiles = [draw_tile(rng) for _ in range(count)]
    images = np.stack([t[0] for t in tiles])
    images = (images - images.mean()) / images.std()
    masks = np.stack([t[1] for t in tiles])
    return torch.from_numpy(images).unsqueeze(1), torch.from_numpy(masks)


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.down1 = double_conv(1, width)
        self.down2 = double_conv(width, 2 * width)
        self.bottom = double_conv(2 * width, 4 * width)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2)
        self.merge2 = double_conv(4 * width, 2 * width)
        self.up1 = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.merge1 = double_conv(2 * width, width)
        self.head = nn.Conv2d(width, CLASSES, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.bottom(F.max_pool2d(b, 2))
        b = self.merge2(torch.cat([self.up2(c), b], 1))
        a = self.merge1(torch.cat([self.up1(b), a], 1))
        return self.head(a)


def build_model(example):
    torch.manual_seed(19)
    model = UNet()
    return model.to(memory_format=torch.channels_last, dtype=example.dtype)


def dice_loss(logits, mask):
    probs = logits.softmax(1)
    target = F.one_hot(mask, CLASSES).permute(0, 3, 1, 2).to(probs.dtype)
    overlap = (probs * target).sum((0, 2, 3))
    size = (probs + target).sum((0, 2, 3))
    return 1 - ((2 * overlap + 1) / (size + 1)).mean()


def augment(images, masks, rng):
    turns = int(rng.integers(0, 4))
    images, masks = images.rot90(turns, (2, 3)), masks.rot90(turns, (1, 2))
    if rng.random() < 0.5:
        images, masks = images.flip(3), masks.flip(2)
    return images.contiguous(memory_format=torch.channels_last), masks.contiguous()


@torch.inference_mode()
def evaluate(model, images, masks):
    """Intersection over union per class."""
    model.eval()
    confusion = torch.zeros(CLASSES * CLASSES, dtype=torch.long)
    for x, y in zip(images.split(16), masks.split(16)):
        guess = model(x).argmax(1)
        confusion += torch.bincount((y * CLASSES + guess).flatten(), minlength=CLASSES**2)
    model.train()
    table = confusion.view(CLASSES, CLASSES).double()
    inter = table.diag()
    return (inter / (table.sum(0) + table.sum(1) - inter)).tolist()


def main():
    images, masks = build_set(TILES, 50)
    valid = build_set(VALID, 51)
    model = build_model(images)
    weight = torch.tensor([1.0, 1.0, 2.0], dtype=images.dtype)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    rng = np.random.default_rng(52)
    for epoch in range(EPOCHS):
        order = torch.from_numpy(rng.permutation(TILES))
        total = torch.zeros((), dtype=images.dtype)
        for pick in order.split(BATCH):
            x, y = augment(images[pick], masks[pick], rng)
            logits = model(x)
            loss = F.cross_entropy(logits, y, weight=weight) + dice_loss(logits, y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        iou = evaluate(model, *valid)
        print(
            f"epoch {epoch} loss {total.item() / (TILES // BATCH):.2f} "
            "iou " + " ".join(f"{v:.1f}" for v in iou)
        )
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters} parameters, {TILES} tiles")


if __name__ == "__main__":
    main()
