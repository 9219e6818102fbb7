"""Learned iterative shrinkage (LISTA) for the sparse decoding of vibration spectra:
an unrolled network whose shrinkage is a custom autograd function."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEED = 13
SIGNAL, ATOMS = 96, 256
LAYERS = 10
TRAIN, TEST = 12800, 2000
EPOCHS, BATCH = 5, 128


class Shrink(torch.autograd.Function):
    """Soft threshold with one threshold per atom."""

    @staticmethod
    def forward(ctx, x, threshold):
        out = torch.sign(x) * torch.clamp_min(x.abs() - threshold, 0.0)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        passed = grad * (out != 0)
        return passed, -(passed * torch.sign(out)).sum(0)


class Lista(nn.Module):
    def __init__(self, dictionary):
        super().__init__()
        step = 1.0 / torch.linalg.matrix_norm(dictionary, 2) ** 2
        self.encode = nn.Parameter(step * dictionary.T.clone())
        self.mix = nn.Parameter(torch.eye(ATOMS) - step * dictionary.T @ dictionary)
        self.log_threshold = nn.Parameter(torch.full((LAYERS, ATOMS), math.log(0.02)))

    def forward(self, y):
        drive = y @ self.encode.T
        thresholds = self.log_threshold.exp()
        x = Shrink.apply(drive, thresholds[0])
        for layer in range(1, LAYERS):
            x = Shrink.apply(torch.addmm(drive, x, self.mix.T), thresholds[layer])
        return x


def make_dictionary(gen):
    """Damped resonances of random frequency, phase and decay, normalised."""
    t = torch.linspace(0, 1, SIGNAL).unsqueeze(1)
    freq = torch.rand(ATOMS, generator=gen) * 40 + 2
    phase = torch.rand(ATOMS, generator=gen) * 2 * math.pi
    decay = torch.rand(ATOMS, generator=gen) * 4
    atoms = torch.exp(-decay * t) * torch.sin(2 * math.pi * freq * t + phase)
    atoms = atoms + 0.6 * torch.randn(SIGNAL, ATOMS, generator=gen)
    return atoms / atoms.norm(dim=0)


def make_signals(dictionary, count, gen):
    active = (torch.rand(count, ATOMS, generator=gen) < 0.03).float()
    codes = active * (0.5 + torch.rand(count, ATOMS, generator=gen)) * torch.sign(torch.randn(count, ATOMS, generator=gen))
    signals = codes @ dictionary.T + 0.01 * torch.randn(count, SIGNAL, generator=gen)
    return signals, codes


def ista(dictionary, y, steps, threshold):
    step = 1.0 / torch.linalg.matrix_norm(dictionary, 2) ** 2
    drive = step * y @ dictionary
    mix = torch.eye(ATOMS) - step * dictionary.T @ dictionary
    x = torch.zeros(y.shape[0], ATOMS)
    for _ in range(steps):
        x = nn.functional.softshrink(drive + x @ mix, threshold)
    return x


def nmse(estimate, truth):
    return 10 * math.log10(float(((estimate - truth) ** 2).sum() / (truth**2).sum()))


def train(model, loader):
    optimizer = torch.optim.Adam(
        [{"params": [model.encode, model.mix], "lr": 4e-4}, {"params": [model.log_threshold], "lr": 1e-2}]
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * len(loader))
    for epoch in range(EPOCHS):
        total = torch.zeros(())
        for y, code in loader:
            loss = nn.functional.mse_loss(model(y), code)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.detach()
        print(f"epoch {epoch + 1} loss {total.item() / len(loader):.5f}")


def main():
    torch.manual_seed(SEED)
    gen = torch.Generator().manual_seed(SEED)
    dictionary = make_dictionary(gen)
    y, code = make_signals(dictionary, TRAIN, gen)
    test_y, test_code = make_signals(dictionary, TEST, gen)
    data = TensorDataset(y, code)
    order = torch.utils.data.BatchSampler(
        torch.utils.data.RandomSampler(data, generator=gen), BATCH, drop_last=True
    )
    loader = DataLoader(data, sampler=order, batch_size=None)
    model = Lista(dictionary)
    train(model, loader)
    with torch.inference_mode():
        learned = nmse(model(test_y), test_code)
        classic = nmse(ista(dictionary, test_y, 100, 0.01), test_code)
    print(f"NMSE learned ({LAYERS} layers) {learned:.2f} dB, ISTA (100 steps) {classic:.2f} dB")


if __name__ == "__main__":
    main()
