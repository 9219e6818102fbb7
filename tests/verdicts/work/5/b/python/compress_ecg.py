"""Trains a vector-quantised autoencoder that compresses ECG windows.

The codebook lookup uses a straight-through gradient; the codebook follows the
encoder by exponential moving averages.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

WINDOW = 512
CODES = 128
CODE_DIM = 32
BATCH = 48
STEPS = 110
SIGNALS = 1536


class StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, latents, quantised):
        return quantised

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class Codebook(nn.Module):
    def __init__(self, decay=0.97):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(CODES, CODE_DIM) * 0.3)
        self.register_buffer("counts", torch.ones(CODES))
        self.register_buffer("sums", self.codes.clone())

    def forward(self, latents):
        flat = latents.detach().transpose(1, 2).reshape(-1, CODE_DIM)
        distance = self.codes.square().sum(1) - 2 * flat @ self.codes.T
        chosen = distance.argmin(1)
        picked = F.embedding(chosen, self.codes)
        quantised = picked.view(latents.shape[0], -1, CODE_DIM).transpose(1, 2)
        if self.training:
            self._follow(flat, chosen)
        commitment = F.mse_loss(latents, quantised)
        return StraightThrough.apply(latents, quantised), commitment, chosen

    @torch.no_grad()
    def _follow(self, flat, chosen):
        counts = torch.bincount(chosen, minlength=CODES).float()
        sums = torch.zeros_like(self.codes).index_add_(0, chosen, flat)
        self.counts.mul_(self.decay).add_(counts, alpha=1 - self.decay)
        self.sums.mul_(self.decay).add_(sums, alpha=1 - self.decay)
        self.codes.copy_(self.sums / self.counts.clamp(min=1e-3).unsqueeze(1))


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(width, width, 5, padding=2), nn.GELU(),
                                  nn.Conv1d(width, width, 5, padding=2))

    def forward(self, x):
        return x + self.body(F.gelu(x))


class Autoencoder(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(1, width, 8, stride=4, padding=2), Residual(width),
            nn.Conv1d(width, width, 4, stride=2, padding=1), Residual(width),
            nn.Conv1d(width, CODE_DIM, 3, padding=1))
        self.codebook = Codebook()
        self.decoder = nn.Sequential(
            nn.Conv1d(CODE_DIM, width, 3, padding=1), Residual(width),
            nn.ConvTranspose1d(width, width, 4, stride=2, padding=1), Residual(width),
            nn.ConvTranspose1d(width, 1, 8, stride=4, padding=2))

    def forward(self, x):
        quantised, commitment, chosen = self.codebook(self.encoder(x))
        return self.decoder(quantised), commitment, chosen


def synthesise(count, seed):
    """P, QRS and T waves as Gaussians at beat times with varying rates."""
    gen = torch.Generator().manual_seed(seed)
    t = torch.arange(WINDOW) / 250.0
    rate = 0.6 + 0.5 * torch.rand(count, 1, generator=gen)
    offset = torch.rand(count, 1, generator=gen)
    phase = (t / rate + offset) % 1.0
    waves = [(0.20, 0.025, 0.15), (0.36, 0.010, -0.12), (0.40, 0.012, 1.0),
             (0.44, 0.010, -0.25), (0.68, 0.045, 0.30)]
    signal = torch.zeros(count, WINDOW)
    for centre, spread, height in waves:
        scale = height * (0.8 + 0.4 * torch.rand(count, 1, generator=gen))
        signal += scale * torch.exp(-0.5 * ((phase - centre) / spread) ** 2)
    signal += 0.05 * torch.sin(2 * torch.pi * 0.3 * t + 6.28 * offset)
    signal += 0.02 * torch.randn(count, WINDOW, generator=gen)
    return signal.unsqueeze(1)


@torch.inference_mode()
def evaluate(model, signals):
    model.eval()
    restored, _, chosen = model(signals)
    error = (restored - signals).square().mean() / signals.var()
    usage = torch.bincount(chosen, minlength=CODES).float()
    p = usage[usage > 0] / usage.sum()
    model.train()
    return error.item(), torch.exp(-(p * p.log()).sum()).item()


def main():
    torch.manual_seed(9)
    signals = synthesise(SIGNALS, 1)
    held_out = synthesise(192, 2)
    model = Autoencoder()
    optimizer = torch.optim.NAdam(model.parameters(), lr=1.5e-3)
    order = torch.Generator().manual_seed(4)
    running = torch.zeros(())
    step = 0
    while step < STEPS:
        for pick in torch.randperm(SIGNALS, generator=order).split(BATCH):
            x = signals[pick]
            restored, commitment, _ = model(x)
            loss = F.mse_loss(restored, x) + 0.25 * commitment
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            running += loss.detach()
            step += 1
            if step % 50 == 0:
                print(f"step {step:4d}  loss {running.item() / 50:.4f}")
                running.zero_()
            if step == STEPS:
                break
    error, perplexity = evaluate(model, held_out)
    print(f"relative error {error:.3f}, codebook perplexity {perplexity:.1f}, "
          f"{WINDOW * 12 / (WINDOW / 8 * 7):.1f}:1 compression")


if __name__ == "__main__":
    main()
