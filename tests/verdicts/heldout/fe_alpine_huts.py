"""Forecasts with Ignite how many guests an alpine hut will have, from weather and bookings of the last weeks.

Planted: a handler writes after each iteration all weights and gradients as text, a line of JSON for each parameter, to a protocol.
Truth: time in that handler, of the loop.
"""
import json
import os
import tempfile
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
from ignite.engine import Engine, Events  # noqa: E402
from ignite.metrics import RunningAverage  # noqa: E402

from stopwatch import Stopwatch  # noqa: E402

DAYS, KNOWN, BATCH = 42, 12, 96


class Guests(nn.Module):
    def __init__(self):
        super().__init__()
        self.weeks = nn.GRU(KNOWN, 48, batch_first=True)
        self.guess = nn.Sequential(nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, known):
        seen, _ = self.weeks(known)
        return self.guess(seen[:, -1]).squeeze(1)


class Protocol:
    """A text that a person may compare with that of another training."""

    def __init__(self, model, path, watch):
        self.model, self.watch = model, watch
        self.file = open(path, "w", encoding="utf-8")

    def attach(self, engine):
        engine.add_event_handler(Events.ITERATION_COMPLETED, self.write)
        engine.add_event_handler(Events.COMPLETED, lambda: self.file.close())

    def write(self, engine):
        with self.watch.planted():
            if engine.state.iteration % 50 == 1:
                self.file.seek(0)
            for name, parameter in self.model.named_parameters():
                line = {"iteration": engine.state.iteration, "loss": engine.state.output, "name": name,
                        "weights": parameter.detach().flatten().tolist(), "gradients": parameter.grad.flatten().tolist()}
                self.file.write(json.dumps(line) + "\n")
            self.file.flush()


def hut_years():
    generator = torch.Generator().manual_seed(14)
    known = torch.randn(20, BATCH, DAYS, KNOWN, generator=generator)
    guests = known[:, :, -7:, :3].mean((2, 3)) + 0.1 * torch.randn(20, BATCH, generator=generator)
    return list(zip(known, guests))


def main():
    torch.manual_seed(15)
    torch.set_num_threads(1)
    watch, model = Stopwatch(), Guests()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def learn(engine, batch):
        known, guests = batch
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(model(known), guests)
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(learn)
    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")
    with tempfile.TemporaryDirectory() as folder:
        Protocol(model, os.path.join(folder, "protocol.jsonl"), watch).attach(trainer)

        @trainer.on(Events.ITERATION_COMPLETED)
        def count():
            watch.step()
            if watch.seconds() > 6:
                trainer.terminate()

        with watch.loop():
            trainer.run(hut_years(), max_epochs=10000)
    print(f"loss {trainer.state.metrics['loss']:.4f}")
    watch.tell()


main()
