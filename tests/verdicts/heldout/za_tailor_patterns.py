"""Drafts sewing patterns from a customer's measures: a wide network tells the outline of a jacket's back, trained with Ignite.

Planted: a Checkpoint handler was attached to every second iteration, and saves the model and Adam's moments to the disk.
Truth: time of writing the files, of the loop.
"""
import tempfile

import torch
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver
from torch import nn

from stopwatch import Stopwatch

MEASURES, OUTLINE, BATCH = 28, 120, 48


class Tape(DiskSaver):
    """The saver, with a clock."""

    def __init__(self, folder, watch):
        super().__init__(folder, create_dir=True, require_empty=False)
        self.watch = watch

    def __call__(self, *arguments, **named):
        with self.watch.planted():
            super().__call__(*arguments, **named)

    def remove(self, filename):
        with self.watch.planted():
            super().remove(filename)


def customers(batches):
    bodies = torch.randn(batches, BATCH, MEASURES)
    cut = torch.randn(MEASURES, OUTLINE)
    return list(zip(bodies, torch.tanh(bodies @ cut / 6)))


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    watch = Stopwatch()
    drafter = nn.Sequential(nn.Linear(MEASURES, 1400), nn.SiLU(), nn.Linear(1400, 1400), nn.SiLU(), nn.Linear(1400, OUTLINE))
    optimizer = torch.optim.Adam(drafter.parameters(), lr=5e-4, fused=True)

    def draft(engine, batch):
        body, outline = batch
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(drafter(body), outline)
        loss.backward()
        optimizer.step()
        return loss.item()

    tailor = Engine(draft)
    with tempfile.TemporaryDirectory() as folder:
        keep = Checkpoint({"drafter": drafter, "optimizer": optimizer}, Tape(folder, watch), n_saved=2)
        tailor.add_event_handler(Events.ITERATION_COMPLETED(every=2), keep)

        @tailor.on(Events.ITERATION_COMPLETED)
        def clock(engine):
            watch.step()
            if watch.seconds() > 6:
                engine.terminate()

        with watch.loop():
            tailor.run(customers(64), max_epochs=1000)
    print(f"loss {tailor.state.output:.4f}")
    watch.tell()


main()
