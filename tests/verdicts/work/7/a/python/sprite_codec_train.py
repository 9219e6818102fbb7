"""Trains the learned codec for sprite sheets: an autoencoder with a quantized code.

The code has a few levels per channel (finite scalar quantization), so that the game
can pack it into bytes; gradients pass the rounding straight through.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SIZE = 32
LEVELS = 7


class RoundStraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


def quantize(z):
    half = (LEVELS - 1) / 2
    return RoundStraightThrough.apply(torch.tanh(z) * half) / half


def make_sprites(n, seed):
    """Mirrored two-tone creatures on a transparent background, RGBA in [0, 1]."""
    g = torch.Generator().manual_seed(seed)
    coarse = torch.rand(n, 1, SIZE // 4, SIZE // 8, generator=g)
    coarse = torch.cat([coarse, coarse.flip(3)], dim=3)
    body = F.interpolate(coarse, size=(SIZE, SIZE), mode="bilinear", align_corners=False)
    ys = torch.linspace(-1, 1, SIZE).view(1, 1, SIZE, 1)
    xs = torch.linspace(-1, 1, SIZE).view(1, 1, 1, SIZE)
    alpha = torch.sigmoid(14 * (body - 0.25 - 0.35 * (xs * xs + ys * ys)))
    first, second = torch.rand(2, n, 3, 1, 1, generator=g)
    tone = torch.sigmoid(20 * (body - 0.55))
    rgb = first * tone + second * (1 - tone)
    return torch.cat([rgb * alpha, alpha], dim=1).contiguous(memory_format=torch.channels_last)


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.a = nn.Conv2d(channels, channels, 3, padding=1)
        self.b = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        return x + self.b(F.silu(self.a(x)))


class SpriteCodec(nn.Module):
    def __init__(self, width=32, code=6):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(4, width, 4, stride=2, padding=1),
            nn.SiLU(),
            nn.Conv2d(width, width, 4, stride=2, padding=1),
            Residual(width),
            nn.Conv2d(width, code, 1),
        )
        self.decoder = nn.Sequential(
            nn.Conv2d(code, width, 1),
            Residual(width),
            nn.ConvTranspose2d(width, width, 4, stride=2, padding=1),
            nn.SiLU(),
            nn.ConvTranspose2d(width, 4, 4, stride=2, padding=1),
        )

    def forward(self, x):
        code = quantize(self.encoder(x))
        return torch.sigmoid(self.decoder(code)), code


def image_loss(out, target):
    dx = (out[..., 1:] - out[..., :-1]) - (target[..., 1:] - target[..., :-1])
    dy = (out[:, :, 1:] - out[:, :, :-1]) - (target[:, :, 1:] - target[:, :, :-1])
    return F.mse_loss(out, target) + 0.5 * (dx.square().mean() + dy.square().mean())


class WeightAverage:
    """Exponential average of the weights, which is what gets shipped."""

    def __init__(self, model, decay):
        self.decay = decay
        self.source = list(model.parameters())
        self.average = [p.detach().clone() for p in self.source]

    @torch.no_grad()
    def update(self):
        torch._foreach_lerp_(self.average, self.source, 1 - self.decay)

    @torch.no_grad()
    def copy_to_model(self):
        for p, a in zip(self.source, self.average):
            p.copy_(a)


def train(model, loader, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3, betas=(0.9, 0.98))
    average = WeightAverage(model, 0.95)
    model.train()
    for _ in range(epochs):
        for (batch,) in loader:
            out, _ = model(batch)
            loss = image_loss(out, batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            average.update()
    average.copy_to_model()


@torch.inference_mode()
def evaluate(model, sprites):
    model.eval()
    error, histogram = 0.0, torch.zeros(LEVELS)
    for batch in sprites.split(128):
        out, code = model(batch)
        error += F.mse_loss(out, batch, reduction="sum").item()
        index = ((code + 1) * (LEVELS - 1) / 2).round().long()
        histogram += torch.bincount(index.flatten(), minlength=LEVELS)
    p = histogram / histogram.sum()
    bits = -(p * torch.log2(p.clamp(min=1e-9))).sum().item()
    return -10 * math.log10(error / sprites.numel()), bits


def main():
    torch.manual_seed(0)
    train_set, test_set = make_sprites(768, seed=1), make_sprites(256, seed=2)
    loader = DataLoader(
        TensorDataset(train_set),
        batch_sampler=torch.utils.data.BatchSampler(
            torch.utils.data.RandomSampler(train_set, generator=torch.Generator().manual_seed(3)), 32, drop_last=True
        ),
    )
    model = SpriteCodec().to(memory_format=torch.channels_last)
    train(model, loader, epochs=6)
    psnr, bits = evaluate(model, test_set)
    print(f"sprites {len(train_set)}  psnr {psnr:.2f} dB  {bits:.3f} bits per code value")


if __name__ == "__main__":
    main()
