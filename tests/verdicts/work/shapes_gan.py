"""GAN that draws small discs and squares; gradients of both nets are clipped."""
import argparse
import json
import math
import time

import torch
from torch import nn

torch.set_num_threads(1)
SIDE, NOISE, BATCH = 16, 24, 64
clip_seconds = 0.0


def draw(n):
    yy, xx = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    c = torch.rand(n, 2, 1, 1) * 6 + 5
    r = torch.rand(n, 1, 1) * 2 + 2
    dy, dx = yy - c[:, 0], xx - c[:, 1]
    disc = torch.sigmoid((r - (dy ** 2 + dx ** 2).sqrt()) * 3)
    square = torch.sigmoid((r - torch.maximum(dy.abs(), dx.abs())) * 3)
    kind = torch.rand(n, 1, 1) < 0.5
    return (torch.where(kind, disc, square) * 2 - 1).flatten(1)


def mlp(n_in, n_out, act):
    return nn.Sequential(nn.Linear(n_in, 256), act(), nn.Linear(256, 256), act(), nn.Linear(256, n_out))


def limit_gradients(net, max_norm, library):
    """Scale the gradients so that their joint norm is at most max_norm."""
    global clip_seconds
    start = time.perf_counter()
    if library:
        norm = float(nn.utils.clip_grad_norm_(net.parameters(), max_norm))
    else:
        square = 0.0
        for p in net.parameters():
            rows = p.grad if p.grad.dim() > 1 else p.grad.unsqueeze(0)
            for row in rows:
                square += row.norm().item() ** 2
        norm = math.sqrt(square)
        if norm > max_norm:
            for p in net.parameters():
                p.grad.mul_(max_norm / norm)
    clip_seconds += time.perf_counter() - start
    return norm


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--steps", type=int, default=320)
    args = ap.parse_args()
    torch.manual_seed(13)
    gen, dis = mlp(NOISE, SIDE * SIDE, nn.ReLU), mlp(SIDE * SIDE, 1, lambda: nn.LeakyReLU(0.2))
    g_opt = torch.optim.Adam(gen.parameters(), lr=4e-4, betas=(0.5, 0.99))
    d_opt = torch.optim.Adam(dis.parameters(), lr=4e-4, betas=(0.5, 0.99))
    bce = nn.functional.binary_cross_entropy_with_logits
    ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)
    begin = time.perf_counter()
    for step in range(args.steps):
        real = draw(BATCH)
        fake = torch.tanh(gen(torch.randn(BATCH, NOISE)))
        d_loss = bce(dis(real), 0.9 * ones) + bce(dis(fake.detach()), zeros)
        d_opt.zero_grad()
        d_loss.backward()
        d_norm = limit_gradients(dis, 1.0, args.repaired)
        d_opt.step()

        g_loss = bce(dis(fake), ones)
        g_opt.zero_grad()
        g_loss.backward()
        g_norm = limit_gradients(gen, 1.0, args.repaired)
        g_opt.step()
        if step % 60 == 59:
            print(f"step {step + 1}  D {d_loss.item():.3f} (|g| {d_norm:.2f})  "
                  f"G {g_loss.item():.3f} (|g| {g_norm:.2f})  fill {(fake > 0).float().mean():.3f}")
    total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": round(clip_seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
