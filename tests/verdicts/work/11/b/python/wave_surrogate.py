"""Learns a surrogate for a two-dimensional wave solver: reference fields come
from finite differences, a Fourier neural operator predicts a later field."""
import torch
from torch import nn

GRID = 48
MODES = 10
WIDTH = 20
LAYERS = 3
SAMPLES = 120
HELD_OUT = 32
LEAPS = 48
BATCH = 8
EPOCHS = 3


def laplacian(u):
    """Five-point stencil on a periodic grid."""
    return (
        u.roll(1, dims=-1) + u.roll(-1, dims=-1) + u.roll(1, dims=-2) + u.roll(-1, dims=-2) - 4 * u
    )


def initial_fields(count, generator):
    """Smooth random fields: a few Gaussian bumps on a periodic square."""
    axis = torch.arange(GRID) / GRID
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    fields = torch.zeros(count, GRID, GRID)
    for _ in range(5):
        centre = torch.rand(count, 2, 1, 1, generator=generator)
        height = torch.randn(count, 1, 1, generator=generator)
        width = 0.04 + 0.08 * torch.rand(count, 1, 1, generator=generator)
        dx = (x - centre[:, 0] + 0.5) % 1 - 0.5
        dy = (y - centre[:, 1] + 0.5) % 1 - 0.5
        fields += height * torch.exp(-(dx**2 + dy**2) / (2 * width**2))
    return fields


def simulate(start, speed):
    """Leapfrog from rest; the speed of the waves differs from place to place."""
    factor = (0.5 * speed) ** 2
    before = start.clone()
    now = start + 0.5 * factor * laplacian(start)
    for _ in range(LEAPS):
        before, now = now, 2 * now - before + factor * laplacian(now)
    return now


def make_set(count, generator):
    start = initial_fields(count, generator)
    medium = initial_fields(count, generator)
    speed = 0.7 + 0.25 * torch.tanh(medium)
    inputs = torch.stack([start, speed], dim=1)
    return inputs, simulate(start, speed).unsqueeze(1)


class SpectralConv(nn.Module):
    """Mixes channels mode by mode for the lowest frequencies."""

    def __init__(self):
        super().__init__()
        scale = 1 / WIDTH**2
        self.low = nn.Parameter(scale * torch.randn(WIDTH, WIDTH, MODES, MODES, 2))
        self.high = nn.Parameter(scale * torch.randn(WIDTH, WIDTH, MODES, MODES, 2))

    @staticmethod
    def mix(modes, weight):
        return torch.einsum("bixy,ioxy->boxy", modes, torch.view_as_complex(weight))

    def forward(self, x):
        modes = torch.fft.rfft2(x)
        out = torch.zeros_like(modes)
        out[:, :, :MODES, :MODES] = self.mix(modes[:, :, :MODES, :MODES], self.low)
        out[:, :, -MODES:, :MODES] = self.mix(modes[:, :, -MODES:, :MODES], self.high)
        return torch.fft.irfft2(out, s=x.shape[-2:])


class Operator(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Conv2d(2, WIDTH, 1)
        self.spectral = nn.ModuleList(SpectralConv() for _ in range(LAYERS))
        self.local = nn.ModuleList(nn.Conv2d(WIDTH, WIDTH, 3, padding=1, padding_mode="circular") for _ in range(LAYERS))
        self.project = nn.Sequential(nn.Conv2d(WIDTH, 64, 1), nn.GELU(), nn.Conv2d(64, 1, 1))

    def forward(self, x):
        x = self.lift(x)
        for spectral, local in zip(self.spectral, self.local):
            x = x + nn.functional.gelu(spectral(x) + local(x))
        return self.project(x)


def relative_error(predicted, wanted):
    """Mean over the samples of the L2 error relative to the field's norm."""
    difference = (predicted - wanted).flatten(1).norm(dim=1)
    return (difference / wanted.flatten(1).norm(dim=1)).mean()


def train_epoch(model, inputs, targets, optimizer, generator):
    total = 0.0
    order = torch.randperm(len(inputs), generator=generator)
    for rows in order.split(BATCH):
        loss = relative_error(model(inputs[rows]), targets[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    return total / len(inputs)


@torch.no_grad()
def evaluate(model, inputs, targets):
    return relative_error(model(inputs), targets).item()


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(40)
    inputs, targets = make_set(SAMPLES, generator)
    test_inputs, test_targets = make_set(HELD_OUT, generator)
    model = Operator()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = [train_epoch(model, inputs, targets, optimizer, generator) for _ in range(EPOCHS)]
    print(f"samples {SAMPLES}, parameters {sum(p.numel() for p in model.parameters())}")
    print("losses " + " ".join(f"{loss:.4f}" for loss in losses))
    print(f"held-out error {evaluate(model, test_inputs, test_targets):.4f}")


if __name__ == "__main__":
    main()
