"""Convolutional VAE on generated pen strokes, with KL warm-up."""
import json
import math
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
SIDE, LATENT, BATCH, EPOCHS = 32, 12, 64, 5


def make_strokes(n, seed):
    """A Lissajous-like curve drawn with a soft brush, accumulated point by point over all images."""
    gen = torch.Generator().manual_seed(seed)
    a, b = (torch.rand(n, 1, generator=gen) * 2 + 1 for _ in range(2))
    p, q = (torch.rand(n, 1, generator=gen) * 2 * math.pi for _ in range(2))
    axis = torch.arange(SIDE).float()
    image = torch.zeros(n, SIDE, SIDE)
    for t in torch.linspace(0, 2 * math.pi, 28):
        cx = SIDE / 2 + 11 * torch.sin(a * t + p)
        cy = SIDE / 2 + 11 * torch.sin(b * t + q)
        gx, gy = torch.exp(-(axis - cx) ** 2 / 2), torch.exp(-(axis - cy) ** 2 / 2)
        image = torch.maximum(image, gy[:, :, None] * gx[:, None, :])
    return image[:, None]


class StrokeVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 24, 4, 2, 1), nn.SiLU(), nn.Conv2d(24, 48, 4, 2, 1), nn.SiLU(),
                                 nn.Flatten(), nn.Linear(48 * 64, 128), nn.SiLU())
        self.mu, self.logvar = nn.Linear(128, LATENT), nn.Linear(128, LATENT)
        self.up = nn.Sequential(nn.Linear(LATENT, 48 * 64), nn.SiLU())
        self.dec = nn.Sequential(nn.ConvTranspose2d(48, 24, 4, 2, 1), nn.SiLU(), nn.ConvTranspose2d(24, 1, 4, 2, 1))

    def decode(self, z):
        return self.dec(self.up(z).view(-1, 48, 8, 8))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decode(z), mu, logvar


def elbo(logits, x, mu, logvar, weight):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)
    kl = -0.5 * (1 + logvar - mu.square() - logvar.exp()).sum() / len(x)
    return rec + weight * kl, rec.detach(), kl.detach()


def main():
    torch.manual_seed(23)
    x, xv = make_strokes(1600, 1), make_strokes(200, 2)
    net = StrokeVAE()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    steps = EPOCHS * math.ceil(len(x) / BATCH)
    done = 0
    begin = time.perf_counter()
    for epoch in range(EPOCHS):
        recs, kls = [], []
        for rows in torch.randperm(len(x)).split(BATCH):
            xb = x[rows]
            logits, mu, logvar = net(xb)
            loss, rec, kl = elbo(logits, xb, mu, logvar, min(1.0, done / (0.5 * steps)))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            done += 1
            recs.append(rec)
            kls.append(kl)
        with torch.inference_mode():
            held = elbo(*(lambda o: (o[0], xv, o[1], o[2]))(net(xv)), 1.0)[0].item()
        print(f"epoch {epoch}  rec {torch.stack(recs).mean():.2f}  kl {torch.stack(kls).mean():.2f}  held-out {held:.2f}")
    total = time.perf_counter() - begin
    with torch.inference_mode():
        ink = net.decode(torch.randn(32, LATENT)).sigmoid().mean().item()
    print(f"mean ink of samples {ink:.4f} (data {x.mean().item():.4f})")
    print("TRUTH", json.dumps({"share": 0, "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
