"""Watches loaves in an oven with Ignite: from four small pictures a network tells how brown the crust is.

Decoy: an evaluator each 80th iteration, a checkpoint each 200th, a line with a flush each 20th, a sleep of a millisecond each 100th, all of a moment.
Truth: time of all that, of the loop.
"""
import os
import tempfile
import time
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
from ignite.engine import Engine, Events  # noqa: E402
from ignite.handlers import TerminateOnNan  # noqa: E402
from ignite.metrics import MeanAbsoluteError  # noqa: E402

from stopwatch import Stopwatch  # noqa: E402


class Crust(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(
            nn.Conv2d(4, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.tell = nn.Linear(48 * 16, 1)

    def forward(self, pictures):
        return self.tell(self.look(pictures).flatten(1)).squeeze(1)


def baked(batches, generator):
    pictures = [torch.rand(6, 4, 40, 40, generator=generator) for _ in range(batches)]
    return [(loaves, loaves.mean((1, 2, 3)) * 4 - 2) for loaves in pictures]


def main():
    torch.manual_seed(61)
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(62)
    watch, crust = Stopwatch(), Crust()
    optimizer = torch.optim.SGD(crust.parameters(), lr=0.01, momentum=0.9)
    training, held = baked(24, generator), baked(1, generator)

    def bake(engine, batch):
        loaves, brown = batch
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(crust(loaves), brown)
        loss.backward()
        optimizer.step()
        return loss.detach()

    def taste(engine, batch):
        crust.eval()
        with torch.no_grad():
            result = crust(batch[0]), batch[1]
        crust.train()
        return result

    trainer, taster = Engine(bake), Engine(taste)
    MeanAbsoluteError().attach(taster, "error")
    trainer.add_event_handler(Events.EPOCH_COMPLETED, TerminateOnNan())
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w", encoding="utf-8") as diary:

        @trainer.on(Events.ITERATION_COMPLETED(every=80))
        def try_a_loaf():
            with watch.planted():
                taster.run(held)

        @trainer.on(Events.ITERATION_COMPLETED(every=200))
        def keep():
            with watch.planted():
                torch.save(crust.state_dict(), os.path.join(folder, "crust.pt"))

        @trainer.on(Events.ITERATION_COMPLETED(every=20))
        def note():
            with watch.planted():
                print(trainer.state.iteration, trainer.state.output.item(), file=diary, flush=True)

        @trainer.on(Events.ITERATION_COMPLETED(every=100))
        def rest():
            with watch.planted():
                time.sleep(0.001)

        @trainer.on(Events.ITERATION_COMPLETED)
        def count():
            watch.step()
            if watch.seconds() > 6:
                trainer.terminate()

        with watch.loop():
            trainer.run(training, max_epochs=10000)
    print(f"error {taster.state.metrics['error']:.4f}")
    watch.tell()


main()
