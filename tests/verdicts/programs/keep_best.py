"""Denoises photographs, and saves the model often.

Planted: the check for "best so far" is made every fifth step, and each time model and optimizer are saved.
Truth: time of saving, as a share of the loop.
"""
import os
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Sequential(nn.Flatten(), nn.Linear(1024, 900), nn.ReLU(), nn.Linear(900, 900), nn.ReLU(), nn.Linear(900, 1024))

    def forward(self, noisy):
        return noisy - self.wide(noisy).view_as(noisy)


def save(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def main():
    torch.manual_seed(53)
    model = Denoiser()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    photographs = torch.rand(600, 1, 32, 32)
    best, watch = float("inf"), Stopwatch()
    with tempfile.TemporaryDirectory() as folder, watch.loop():
        while watch.seconds() < 3.3:
            clean = photographs[torch.randint(600, (96,))]
            loss = nn.functional.mse_loss(model(clean + 0.3 * torch.randn_like(clean)), clean)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            best = min(best, loss.item())
            if len(watch.marks) % 5 == 4:
                with watch.planted():
                    save(os.path.join(folder, "best.pt"), model, optimizer, len(watch.marks))
            watch.step()
    print(f"best loss {best:.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
