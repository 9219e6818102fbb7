"""Quantisation-aware training of a gesture classifier for a microcontroller:
8-bit activations, 4-bit weights, learned step sizes with custom gradients."""
import math

import torch
from torch import nn
from torch.autograd import Function

CLASSES, CHANNELS, LENGTH = 8, 6, 64
STEPS, BATCH = 300, 64


class LearnedStep(Function):
    """Fake quantisation with a trained step (LSQ): straight-through inside the
    range, and a gradient for the step itself."""

    @staticmethod
    def forward(ctx, x, step, low, high):
        scaled = x / step
        inside = (scaled >= low) & (scaled <= high)
        rounded = scaled.clamp(low, high).round_()
        ctx.save_for_backward(torch.where(inside, rounded - scaled, rounded), inside)
        ctx.gain = 1.0 / math.sqrt(x.numel() * max(high, 1))
        return rounded * step

    @staticmethod
    def backward(ctx, grad):
        slope, inside = ctx.saved_tensors
        return grad * inside, (grad * slope).sum().mul_(ctx.gain).view(1), None, None


class Quantizer(nn.Module):
    def __init__(self, bits: int, signed: bool):
        super().__init__()
        self.low = -(2 ** (bits - 1)) if signed else 0
        self.high = 2 ** (bits - 1) - 1 if signed else 2 ** bits - 1
        self.step = nn.Parameter(torch.zeros(1))
        self.register_buffer("ready", torch.zeros((), dtype=torch.bool), persistent=True)
        self.started = False

    def forward(self, x):
        if not self.started:
            with torch.no_grad():
                self.step.fill_(2 * x.abs().mean() / math.sqrt(self.high))
                self.ready.fill_(True)
            self.started = True
        return LearnedStep.apply(x, self.step, self.low, self.high)


class QuantConv(nn.Conv1d):
    def __init__(self, cin, cout, kernel, stride=1, first=False):
        super().__init__(cin, cout, kernel, stride, kernel // 2, bias=False)
        self.weight_q = Quantizer(8 if first else 4, signed=True)
        self.input_q = Quantizer(8, signed=first)

    def forward(self, x):
        return self._conv_forward(self.input_q(x), self.weight_q(self.weight), None)


def stage(cin, cout, stride, first=False):
    return nn.Sequential(QuantConv(cin, cout, 5, stride, first), nn.BatchNorm1d(cout), nn.ReLU())


class GestureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(stage(CHANNELS, 32, 1, first=True), stage(32, 64, 2),
                                  stage(64, 64, 1), stage(64, 96, 2))
        self.head = nn.Linear(96, CLASSES)

    def forward(self, x):
        return self.head(self.body(x).mean(-1))


class Gestures:
    """Accelerometer and gyroscope traces: every class has its own oscillations."""

    def __init__(self, seed: int):
        self.generator = torch.Generator().manual_seed(seed)
        table = torch.Generator().manual_seed(40)
        self.freq = 1 + 6 * torch.rand(CLASSES, CHANNELS, 1, generator=table)
        self.phase = 6.3 * torch.rand(CLASSES, CHANNELS, 1, generator=table)
        self.time = torch.linspace(0, 1, LENGTH)

    def batch(self, n: int):
        g = self.generator
        y = torch.randint(0, CLASSES, (n,), generator=g)
        speed = 0.8 + 0.4 * torch.rand(n, 1, 1, generator=g)
        shift = 0.8 * torch.randn(n, 1, 1, generator=g)
        wave = torch.sin(6.2832 * self.freq[y] * speed * self.time + self.phase[y] + shift)
        return wave + 1.6 * torch.randn(n, CHANNELS, LENGTH, generator=g), y


def parameter_groups(model):
    steps = [p for n, p in model.named_parameters() if n.endswith(".step")]
    others = [p for n, p in model.named_parameters() if not n.endswith(".step")]
    return [{"params": others, "weight_decay": 1e-4}, {"params": steps, "weight_decay": 0.0}]


@torch.inference_mode()
def evaluate(model, batches):
    model.eval()
    hits = total = 0
    for x, y in batches:
        hits += int((model(x).argmax(1) == y).sum())
        total += len(y)
    model.train()
    return hits / total


def flash_bytes(model) -> int:
    bits = 0
    for m in model.modules():
        if isinstance(m, QuantConv):
            per_weight = 8 if m.weight_q.high == 127 else 4
            bits += m.weight.numel() * per_weight + 32 * (m.out_channels + 2)
    return bits // 8 + 4 * sum(p.numel() for p in model.head.parameters())


def main():
    torch.manual_seed(2)
    stream, model = Gestures(seed=3), GestureNet()
    held = [Gestures(seed=4).batch(400) for _ in range(2)]
    model(stream.batch(BATCH)[0])
    optimizer = torch.optim.SGD(parameter_groups(model), lr=0.05, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    running = torch.zeros(())
    for step in range(1, STEPS + 1):
        x, y = stream.batch(BATCH)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        running += loss.detach()
        if step % 100 == 0:
            print(f"step {step} loss {running.item() / 100:.3f} accuracy {evaluate(model, held):.3f}")
            running.zero_()
    print(f"model takes {flash_bytes(model)} bytes of flash")


if __name__ == "__main__":
    main()
