"""Classifies machine sounds from spectrogram patches with a small vision transformer."""
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLASSES = 6
BINS = 64
FRAMES = 64
PATCH = 8


def synthesise(count, generator):
    """Waveforms of bearings with class specific harmonics and modulation."""
    n = (FRAMES - 1) * 32 + 126
    t = torch.arange(n) / 4000.0
    label = torch.randint(CLASSES, (count,), generator=generator)
    base = 90 + 45 * label + 20 * torch.rand(count, generator=generator)
    rate = 4 + 3 * (label % 3) + torch.rand(count, generator=generator)
    wave = torch.zeros(count, n)
    for k in range(1, 5):
        phase = 2 * math.pi * torch.rand(count, 1, generator=generator)
        wave += torch.sin(2 * math.pi * k * base[:, None] * t + phase) / k
    wave *= 1 + 0.6 * torch.sin(2 * math.pi * rate[:, None] * t)
    wave += 1.5 * torch.randn(count, n, generator=generator)
    return wave, label


def log_spectrogram(wave):
    spec = torch.stft(wave, n_fft=126, hop_length=32, window=torch.hann_window(126),
                      center=False, return_complex=True)
    return torch.log1p(spec.abs())[:, :BINS, :FRAMES]


class SoundDataset(Dataset):
    """Spectrograms are computed once; masking is applied per access."""

    def __init__(self, count, seed, augment):
        generator = torch.Generator().manual_seed(seed)
        wave, self.label = synthesise(count, generator)
        spec = log_spectrogram(wave)
        self.spec = (spec - spec.mean()) / spec.std()
        self.augment = augment

    def __len__(self):
        return len(self.label)

    def __getitems__(self, index):
        x = self.spec[index].clone()
        if self.augment:
            start = torch.randint(FRAMES - 8, (len(index), 1, 1))
            frame = torch.arange(FRAMES)
            x.masked_fill_((frame >= start) & (frame < start + 8), 0.0)
        return x.unsqueeze(1), self.label[index]


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d)
        x = x + self.proj(y)
        return x + self.mlp(self.n2(x))


class SpectrogramViT(nn.Module):
    def __init__(self, dim=96, depth=4, heads=4):
        super().__init__()
        self.patch = nn.Conv2d(1, dim, PATCH, stride=PATCH)
        self.position = nn.Parameter(0.02 * torch.randn(1, BINS // PATCH * FRAMES // PATCH, dim))
        self.layers = nn.Sequential(*(Layer(dim, heads) for _ in range(depth)))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, CLASSES)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.position
        return self.head(self.norm(self.layers(x)).mean(1))


@torch.inference_mode()
def accuracy(model, loader):
    model.eval()
    right = total = 0
    for x, y in loader:
        right += (model(x).argmax(1) == y).sum()
        total += len(y)
    model.train()
    return right.item() / total


def decay_groups(model):
    """No weight decay for norms, biases and positions."""
    yes = [p for n, p in model.named_parameters() if p.ndim >= 2 and n != "position"]
    no = [p for n, p in model.named_parameters() if p.ndim < 2 or n == "position"]
    return [{"params": yes, "weight_decay": 0.05}, {"params": no, "weight_decay": 0.0}]


def main():
    torch.manual_seed(31)
    as_is = lambda batch: batch
    train_loader = DataLoader(SoundDataset(640, 32, True), batch_size=64, shuffle=True,
                              collate_fn=as_is, drop_last=True)
    test_loader = DataLoader(SoundDataset(256, 33, False), batch_size=128, collate_fn=as_is)
    model = SpectrogramViT()
    epochs = 3
    optimizer = torch.optim.AdamW(decay_groups(model), lr=1.5e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * len(train_loader))
    for epoch in range(epochs):
        running = torch.zeros(())
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y, label_smoothing=0.05)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            running += loss.detach()
        print(f"epoch {epoch}: loss {running.item() / len(train_loader):.3f} "
              f"accuracy {accuracy(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
