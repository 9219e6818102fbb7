"""Interest-rate curves: an autoencoder in PyTorch with attention over the rates of thirty maturities; NumPy computes further figures.

Decoy: a thread with a queue that naps and writes checkpoints, a history that np.append() makes longer, gc.collect(), json lines, .item() each step.
Truth: time of the history, the line, .item(), the collections and the handing over, as a share of the loop.
"""
import gc
import json
import queue
import threading
import time

import numpy as np
import torch
from torch import nn

from stopwatch import Stopwatch

MATURITIES, BATCH, WIDTH = 30, 160, 64


class Curve(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = nn.Linear(1, WIDTH)
        self.place = nn.Parameter(0.1 * torch.randn(MATURITIES, WIDTH))
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(WIDTH, 4, 128, 0.0, batch_first=True, norm_first=True) for _ in range(2))
        self.narrow, self.wide = nn.Linear(WIDTH * MATURITIES, 4), nn.Linear(4, MATURITIES)

    def forward(self, rates):
        tokens = self.rate(rates[:, :, None]) + self.place
        for layer in self.layers:
            tokens = layer(tokens)
        return self.wide(self.narrow(tokens.flatten(1)))


class Vault(threading.Thread):
    """Writes the weights to a file, so that the training does not wait for it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.wanted = queue.SimpleQueue()

    def run(self):
        while (weights := self.wanted.get()) is not None:
            time.sleep(0.05)
            np.savez("curve.npz", *weights)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(9)
    draw = torch.Generator().manual_seed(10)
    shape = torch.stack([torch.ones(MATURITIES), torch.linspace(-1, 1, MATURITIES), torch.linspace(-1, 1, MATURITIES) ** 2])
    days = [torch.randn(BATCH, 3, generator=draw) @ shape + 0.05 * torch.randn(BATCH, MATURITIES, generator=draw) for _ in range(16)]
    curve, watch, vault = Curve(), Stopwatch(), Vault()
    optimizer = torch.optim.AdamW(curve.parameters(), lr=5e-4, fused=True)
    vault.start()
    history = np.zeros(0, np.float32)
    gc.collect()
    gc.freeze()
    with watch.loop(), open("desk.jsonl", "w") as desk:
        number = 0
        while watch.seconds() < 6:
            rates = days[number % 16]
            loss = nn.functional.mse_loss(curve(rates), rates)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            number += 1
            with watch.planted():
                history = np.append(history, np.float32(loss.item()))[-500:]
                if number % 5 == 0:
                    desk.write(json.dumps({"step": number, "loss": float(history[-1]), "mean": float(history.mean())}) + "\n")
                if number % 60 == 0:
                    gc.collect()
                    vault.wanted.put([weight.detach().numpy().copy() for weight in curve.parameters()])
            watch.step()
    vault.wanted.put(None)
    vault.join()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
