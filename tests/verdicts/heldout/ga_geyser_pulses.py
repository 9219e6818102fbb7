"""Forecasts when a geyser erupts next: a small transformer with causal attention over the record of pressure.

Clean: mini-batches are views of tensors in memory, the usual loop, a schedule of the rate, the loss is read rarely.
Truth: time of reading the loss, printing and stepping the schedule, of the loop.
"""
import math

import torch
from torch import nn

from stopwatch import Stopwatch

TOKENS, WIDTH, HEADS, BATCH = 96, 128, 4, 12


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch = x.shape[0]
        q, k, v = self.qkv(self.norm(x)).view(batch, TOKENS, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, TOKENS, WIDTH))
        return x + self.down(nn.functional.gelu(self.up(self.second(x))))


class Geyser(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(8, WIDTH)
        self.place = nn.Parameter(torch.randn(TOKENS, WIDTH) * 0.02)
        self.layers = nn.Sequential(Layer(), Layer(), Layer())
        self.wait = nn.Linear(WIDTH, 1)

    def forward(self, pressure):
        return self.wait(self.layers(self.embed(pressure) + self.place)).squeeze(2)


def main():
    torch.manual_seed(31)
    time = torch.arange(40 * BATCH * TOKENS * 8).float() / 50
    pressure = (torch.sin(time) + (time * 0.37).sin() ** 3 + 0.1 * torch.randn_like(time)).view(-1, TOKENS, 8)
    target = pressure.roll(-1, 1).mean(2)
    model = Geyser()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.98), fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min(1, (n + 1) / 50) * (1 + math.cos(min(n, 2000) / 640)) / 2)
    batches = list(zip(pressure.split(BATCH), target.split(BATCH)))
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 6:
            for x, y in watch.limited(batches, 6):
                loss = nn.functional.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                with watch.planted():
                    schedule.step()
                    if len(watch.marks) % 40 == 0:
                        print(f"{len(watch.marks):5d} {loss.item():.4f}")
                watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
