"""Map water and built-up land on a large aerial mosaic.

The mosaic is cut into overlapping tiles, a U-Net predicts each of them (with a
mirrored copy for stability), and the predictions are blended into one map.
The network is fitted first on a handful of annotated patches.
"""
import math

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES = ("open land", "water", "built-up")
TILE = 192
OVERLAP = 32
MOSAIC = 640


def smooth_noise(size, cells, generator):
    coarse = torch.randn(1, 1, cells, cells, generator=generator)
    return F.interpolate(coarse, size=(size, size), mode="bicubic", align_corners=True)[0, 0]


def make_scene(size, seed):
    """RGB + near infrared image and its label map."""
    g = torch.Generator().manual_seed(seed)
    terrain = smooth_noise(size, max(size // 48, 4), g)
    density = smooth_noise(size, max(size // 64, 4), g)
    label = torch.zeros(size, size, dtype=torch.long)
    label[density > 0.6] = 2
    label[terrain < -0.7] = 1
    colour = torch.tensor([[0.32, 0.42, 0.25, 0.62], [0.12, 0.20, 0.30, 0.05], [0.50, 0.48, 0.47, 0.30]])
    image = colour[label].permute(2, 0, 1).clone()
    blocks = (torch.arange(size) // 6 % 2).float()
    texture = (blocks[:, None] * blocks[None]) * 0.25
    image += texture * (label == 2)
    image += 0.1 * smooth_noise(size, size // 8, g) + 0.06 * torch.randn(4, size, size, generator=g)
    return image.clamp(0, 1), label


class Patches(Dataset):
    def __init__(self, count, size=96):
        self.scenes = [make_scene(size, 100 + i) for i in range(count)]

    def __len__(self):
        return len(self.scenes)

    def __getitem__(self, i):
        return self.scenes[i]


def double_conv(inp, out):
    return nn.Sequential(
        nn.Conv2d(inp, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True),
        nn.Conv2d(out, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        w = width
        self.down1, self.down2, self.down3 = double_conv(4, w), double_conv(w, 2 * w), double_conv(2 * w, 4 * w)
        self.up2, self.up1 = double_conv(6 * w, 2 * w), double_conv(3 * w, w)
        self.head = nn.Conv2d(w, len(CLASSES), 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.down3(F.max_pool2d(b, 2))
        b = self.up2(torch.cat([F.interpolate(c, scale_factor=2.0), b], dim=1))
        a = self.up1(torch.cat([F.interpolate(b, scale_factor=2.0), a], dim=1))
        return self.head(a)


def fit(model, epochs=2):
    loader = DataLoader(Patches(32), batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(2))
    optimiser = torch.optim.AdamW(model.parameters(), lr=6e-3)
    weight = torch.tensor([0.6, 1.2, 1.2])
    model.train()
    for _ in range(epochs):
        for image, label in loader:
            loss = F.cross_entropy(model(image), label, weight=weight)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
    return loss.item()


def blend_window():
    ramp = torch.ones(TILE)
    edge = (torch.arange(OVERLAP) + 0.5) / OVERLAP
    ramp[:OVERLAP] = 0.5 - 0.5 * torch.cos(math.pi * edge)
    ramp[-OVERLAP:] = ramp[:OVERLAP].flip(0)
    return ramp[:, None] * ramp[None]


def tile_origins(size):
    stride = TILE - OVERLAP
    return [min(at, size - TILE) for at in range(0, size - OVERLAP, stride)]


@torch.inference_mode()
def predict(model, mosaic, batch=4):
    """Class probabilities of the whole mosaic."""
    model.eval()
    model = model.to(memory_format=torch.channels_last)
    size = mosaic.shape[-1]
    origins = [(y, x) for y in tile_origins(size) for x in tile_origins(size)]
    window = blend_window().clamp(min=1e-3)
    total = torch.zeros(len(CLASSES), size, size)
    weight = torch.zeros(size, size)
    for at in range(0, len(origins), batch):
        part = origins[at:at + batch]
        tiles = torch.stack([mosaic[:, y:y + TILE, x:x + TILE] for y, x in part])
        tiles = tiles.contiguous(memory_format=torch.channels_last)
        probability = model(tiles).softmax(1) + model(tiles.flip(-1)).softmax(1).flip(-1)
        for (y, x), p in zip(part, probability):
            total[:, y:y + TILE, x:x + TILE] += p * window
            weight[y:y + TILE, x:x + TILE] += window
    return total / (2 * weight)


def main():
    torch.manual_seed(8)
    model = UNet()
    print(f"fitted, last loss {fit(model):.4f}")
    confusion = torch.zeros(len(CLASSES), len(CLASSES), dtype=torch.long)
    for seed in (1, 2):
        mosaic, label = make_scene(MOSAIC, seed)
        predicted = predict(model, mosaic).argmax(0)
        pairs = label.flatten() * len(CLASSES) + predicted.flatten()
        confusion += torch.bincount(pairs, minlength=len(CLASSES) ** 2).view(len(CLASSES), -1)
    for i, name in enumerate(CLASSES):
        union = confusion[i].sum() + confusion[:, i].sum() - confusion[i, i]
        print(f"{name:10s} IoU {confusion[i, i].item() / union.item():.4f}")


if __name__ == "__main__":
    main()
