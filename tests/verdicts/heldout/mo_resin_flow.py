"""Predicts how resin flows through a mould, by a Fourier neural operator in two dimensions.

Clean: spectral and pointwise layers, Adam, and a schedule of the learning rate; moulds were made before.
Truth: time in which a batch is chosen, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

SIDE, MODES, WIDTH, BATCH = 48, 12, 24, 6


class Spectral(nn.Module):
    """Mixes channels of the lowest waves, each wave by a matrix of its own; the real and the imaginary part alike."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Parameter(torch.randn(2 * MODES * MODES, WIDTH, WIDTH) / WIDTH)

    def forward(self, x):
        waves = torch.fft.rfft2(x, norm="ortho")
        low = torch.view_as_real(torch.cat([waves[:, :, :MODES, :MODES], waves[:, :, -MODES:, :MODES]], 2).contiguous())
        parts = low.permute(2, 3, 4, 0, 1).reshape(2 * MODES * MODES, -1, WIDTH)
        mixed = torch.bmm(parts, self.mix).view(2 * MODES, MODES, 2, len(x), WIDTH).permute(3, 4, 0, 1, 2)
        mixed = torch.view_as_complex(mixed.contiguous())
        gap = mixed.new_zeros(len(x), WIDTH, x.shape[2] - 2 * MODES, MODES)
        return torch.fft.irfft2(torch.cat([mixed[:, :, :MODES], gap, mixed[:, :, MODES:]], 2), s=x.shape[-2:], norm="ortho")


class Flow(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.lift = nn.Conv2d(3, WIDTH, 1)
        self.spectral = nn.ModuleList(Spectral() for _ in range(depth))
        self.local = nn.ModuleList(nn.Conv2d(WIDTH, WIDTH, 1) for _ in range(depth))
        self.project = nn.Sequential(nn.Conv2d(WIDTH, 64, 1), nn.GELU(), nn.Conv2d(64, 1, 1))

    def forward(self, x):
        x = self.lift(x)
        for wave, local in zip(self.spectral, self.local):
            x = nn.functional.gelu(wave(x) + local(x))
        return self.project(x)


def moulds(count):
    generator = torch.Generator().manual_seed(23)
    axis = torch.linspace(0, 1, SIDE)
    rows, columns = torch.meshgrid(axis, axis, indexing="ij")
    dense = torch.rand(count, 1, 1, generator=generator)
    fibre = torch.sin(9 * dense * rows + 4 * columns)
    inputs = torch.stack([fibre, rows.expand_as(fibre), columns.expand_as(fibre)], 1)
    return inputs, torch.cumsum(fibre, 2).unsqueeze(1) / SIDE


def main():
    torch.manual_seed(1)
    inputs, fronts = moulds(256)
    model, watch = Flow(), Stopwatch()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 100, 0.5)
    with watch.loop():
        for _ in watch.limited(range(4000), 6):
            with watch.planted():
                chosen = torch.randint(len(inputs), (BATCH,))
                x, y = inputs[chosen], fronts[chosen]
            flow = model(x)
            loss = ((flow - y).flatten(1).norm(dim=1) / y.flatten(1).norm(dim=1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
