"""Estimates a radio channel from a few pilot tones: a network of dense layers over carriers fills in what lies between, whole batches from memory.

Decoy: a thread writes checkpoints of a copied state now and then, four batches are tried out each fiftieth step, the loss is read and printed each tenth,
and a scheduler and an average of the weights run in each step, all of a moment.
Truth: time of copies, trials, lines, scheduler and average, of the loop.
"""
import io
import os
import queue
import tempfile
import threading

import torch
from torch import nn

from stopwatch import Stopwatch

CARRIERS, PILOTS, BATCH, SLOTS = 256, 32, 192, 3


class Channel(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.pilots = nn.Linear(2 * PILOTS * SLOTS, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(4))
        self.carriers = nn.Linear(width, 2 * CARRIERS)

    def forward(self, tones):
        state = self.pilots(tones)
        for layer in self.layers:
            state = state + torch.tanh(layer(state))
        return self.carriers(state)


class Keeper(threading.Thread):
    """Writes states; the loop only copies them."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.path, self.states, self.count = os.path.join(folder, "channel.pt"), queue.Queue(1), 0

    def keep(self, model):
        self.states.put({name: value.detach().clone() for name, value in model.state_dict().items()})

    def run(self):
        for state in iter(self.states.get, None):
            buffer = io.BytesIO()
            torch.save(state, buffer)
            with open(self.path, "wb") as file:
                file.write(buffer.getbuffer())
            self.count += 1


def fading(draw, count):
    """Channels of five paths each, and what the pilots show of them."""
    delay, gain = 20 * torch.rand(count, 5, 1, generator=draw), torch.randn(count, 5, 1, generator=draw)
    angle = delay * torch.linspace(0, 3, CARRIERS)
    full = torch.cat([(gain * angle.cos()).sum(1), (gain * angle.sin()).sum(1)], 1) / 5
    seen = full.view(count, 2, PILOTS, -1)[..., 0].flatten(1).repeat(1, SLOTS)
    return seen + 0.05 * torch.randn(seen.shape, generator=draw), full


def main():
    torch.manual_seed(44)
    torch.set_num_threads(1)
    draw = torch.Generator().manual_seed(7)
    tones, channel = fading(draw, 16 * BATCH)
    trial_tones, trial = fading(draw, 4 * 32)
    watch, model = Stopwatch(), Channel()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4000)
    mean_bias, missed, said = torch.zeros(2 * CARRIERS), 0.0, 0.0
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w", encoding="ascii") as log:
        keeper = Keeper(folder)
        keeper.start()
        with watch.loop():
            for number in watch.limited(range(1, 100000), 6):
                rows = slice(number % 16 * BATCH, (number % 16 + 1) * BATCH)
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(tones[rows]), channel[rows])
                loss.backward()
                optimizer.step()
                with watch.planted(), torch.no_grad():
                    schedule.step()
                    mean_bias.lerp_(model.carriers.bias, 0.01)
                    if number % 10 == 0:
                        said = loss.item()
                        print(number, said, file=log, flush=True)
                    if number % 50 == 0:
                        missed = sum(nn.functional.mse_loss(model(t), c).item() for t, c in zip(trial_tones.split(32), trial.split(32)))
                    if number % 150 == 0:
                        keeper.keep(model)
                watch.step()
        keeper.states.put(None)
        keeper.join()
    print(f"loss {said:.4f}, missed {missed:.4f}, mean {mean_bias.norm():.4f}, {keeper.count} kept")
    watch.tell()


main()
