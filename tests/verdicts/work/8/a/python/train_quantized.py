"""Quantization-aware training of the keyword spotter for the 4-bit accelerator.

Weights and activations are fake-quantized with learned step sizes (LSQ); the
gradient of the rounding is a custom autograd function.  The result is exported
as integers and compared with the fake-quantized model.
"""
import io
import math

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

KEYWORDS = 8
BANDS, FRAMES = 32, 48


class LearnedStepRound(torch.autograd.Function):
    """Rounds x to multiples of step in [low, high]; LSQ gradient for the step."""

    @staticmethod
    def forward(ctx, x, step, low, high, gradient_scale):
        scaled = x / step
        levels = scaled.round().clamp_(low, high)
        ctx.save_for_backward(scaled, levels)
        ctx.bounds = low, high, gradient_scale
        return levels * step

    @staticmethod
    def backward(ctx, grad):
        scaled, levels = ctx.saved_tensors
        low, high, gradient_scale = ctx.bounds
        inside = (scaled >= low) & (scaled <= high)
        grad_x = grad * inside
        slope = torch.where(inside, levels - scaled, levels)
        grad_step = (grad * slope).sum() * gradient_scale
        return grad_x, grad_step.reshape(1), None, None, None


class Quantizer(nn.Module):
    def __init__(self, bits, signed, initial):
        super().__init__()
        self.low = -(2 ** (bits - 1)) if signed else 0
        self.high = 2 ** (bits - 1) - 1 if signed else 2 ** bits - 1
        self.step = nn.Parameter(torch.tensor([initial]))

    def forward(self, x):
        scale = 1.0 / math.sqrt(x.numel() * self.high)
        return LearnedStepRound.apply(x, self.step, self.low, self.high, scale)

    @torch.no_grad()
    def integers(self, x):
        return (x / self.step).round().clamp(self.low, self.high).to(torch.int8)


class QuantConv(nn.Module):
    def __init__(self, cin, cout, stride=1, bits=4):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(cout)
        spread = float(self.conv.weight.detach().abs().mean())
        self.weight_quant = Quantizer(bits, True, 2 * spread / math.sqrt(2 ** (bits - 1) - 1))
        self.output_quant = Quantizer(bits, False, 0.15)

    def forward(self, x):
        weight = self.weight_quant(self.conv.weight)
        y = F.conv2d(x, weight, None, self.conv.stride, self.conv.padding)
        return self.output_quant(F.relu(self.norm(y)))


class Spotter(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            QuantConv(1, 24, stride=2), QuantConv(24, 32), QuantConv(32, 48, stride=2),
            QuantConv(48, 48), QuantConv(48, 64, stride=2))
        self.head = nn.Linear(64, KEYWORDS)

    def forward(self, x):
        return self.head(self.layers(x).mean((2, 3)))


def synthesize(n, seed):
    """Spectrograms of chirps: each keyword has its own sweep through the bands."""
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(KEYWORDS, (n,), generator=g)
    t = torch.linspace(0, 1, FRAMES)
    shift = 0.1 * torch.randn(n, 1, generator=g)
    k = label.float().unsqueeze(1)
    track = 0.5 + 0.35 * torch.sin(2 * math.pi * (t * (0.5 + 0.25 * (k % 4)) + shift)) * (
        1 - 2 * (k >= 4).float())
    bands = torch.linspace(0, 1, BANDS).view(1, BANDS, 1)
    image = torch.exp(-((bands - track.unsqueeze(1)) * 14) ** 2)
    image = image + 0.35 * torch.randn(n, BANDS, FRAMES, generator=g)
    return TensorDataset(image.unsqueeze(1), label)


def parameter_groups(model):
    steps = [p for n, p in model.named_parameters() if n.endswith(".step")]
    weights = [p for n, p in model.named_parameters() if not n.endswith(".step")]
    return [{"params": weights, "lr": 0.08, "weight_decay": 1e-4},
            {"params": steps, "lr": 0.01, "weight_decay": 0.0}]


def train(model, loader, epochs):
    optimizer = torch.optim.SGD(parameter_groups(model), momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * len(loader))
    for epoch in range(epochs):
        model.train()
        total = torch.zeros(())
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.detach()
        print(f"epoch {epoch}: loss {float(total) / len(loader):.3f}")


@torch.inference_mode()
def accuracy(model, loader):
    model.eval()
    right = torch.zeros((), dtype=torch.long)
    count = 0
    for images, labels in loader:
        right += (model(images).argmax(1) == labels).sum()
        count += len(labels)
    return float(right) / count


def export(model):
    state = {}
    for i, layer in enumerate(model.layers):
        state[f"{i}.weight"] = layer.weight_quant.integers(layer.conv.weight)
        state[f"{i}.step"] = layer.weight_quant.step.detach()
    buffer = io.BytesIO()
    torch.save(state, buffer)
    used = [len(state[f"{i}.weight"].unique()) for i in range(len(model.layers))]
    return buffer.tell(), used


def main():
    torch.manual_seed(21)
    shuffle = torch.Generator().manual_seed(22)
    train_loader = DataLoader(synthesize(1152, 1), batch_size=128, shuffle=True,
                              drop_last=True, generator=shuffle)
    test_loader = DataLoader(synthesize(384, 2), batch_size=256)
    model = Spotter()
    train(model, train_loader, epochs=4)
    print(f"accuracy {accuracy(model, test_loader):.2f}")
    size, used = export(model)
    print(f"export {size > 0}, levels by layer {used}")


if __name__ == "__main__":
    main()
