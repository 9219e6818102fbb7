"""Finds broken wires in a ropeway's cable from a magnet's signal: an autoencoder learns what a sound cable looks like.

Decoy: a keeper's thread with a queue, weights saved each fiftieth step, a look at held signals with its graph, and a loop over the
parameters that reads each one's norm, all of a moment.
Truth: time of all that, of the loop.
"""
import io
import queue
import threading

import torch
from torch import nn

from stopwatch import Stopwatch

LENGTH, COILS, BATCH = 256, 6, 32


class Cable(nn.Module):
    def __init__(self):
        super().__init__()
        self.wind = nn.Sequential(nn.Conv1d(COILS, 64, 9, stride=2, padding=4), nn.Tanh(),
                                  nn.Conv1d(64, 64, 9, stride=2, padding=4), nn.Tanh())
        self.unwind = nn.Sequential(nn.ConvTranspose1d(64, 64, 8, stride=2, padding=3), nn.Tanh(),
                                    nn.ConvTranspose1d(64, COILS, 8, stride=2, padding=3))

    def forward(self, signal):
        return self.unwind(self.wind(signal))


class Keeper(threading.Thread):
    """Notes the worst loss of the day, whenever there is one to note."""

    def __init__(self):
        super().__init__(daemon=True)
        self.losses, self.lock, self.worst = queue.Queue(), threading.Lock(), 0.0

    def run(self):
        while (loss := self.losses.get()) is not None:
            with self.lock:
                self.worst = max(self.worst, loss)


def main():
    torch.manual_seed(100)
    watch, cable, keeper = Stopwatch(), Cable(), Keeper()
    keeper.start()
    optimizer = torch.optim.AdamW(cable.parameters(), lr=2e-4, fused=True)
    hum = torch.sin(torch.arange(LENGTH) / 7.0)
    signals = hum + 0.3 * torch.randn(30, BATCH, COILS, LENGTH)
    held = signals[0, :4].clone()
    norms = []
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            signal = signals[number % 30]
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.mse_loss(cable(signal), signal)
            loss.backward()
            optimizer.step()
            with watch.planted():
                keeper.losses.put(loss.item())
                with keeper.lock:
                    worst = keeper.worst
                if number % 10 == 0:
                    norms = [weight.norm().item() for weight in cable.parameters()]
                if number % 50 == 0:
                    torch.save(cable.state_dict(), io.BytesIO())
                    nn.functional.mse_loss(cable(held), held)
            watch.step()
    keeper.losses.put(None)
    keeper.join()
    print(f"loss {loss.item():.4f}, worst {worst:.4f}, norms {sum(norms):.2f}")
    watch.tell()


main()
