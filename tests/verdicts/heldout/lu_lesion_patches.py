"""Decides whether a patch of skin is a lesion: a convolutional network with a wide head, trained with Ignite.

Planted: Ignite's Checkpoint keeps weights, Adam's moments and the trainer after each sixth iteration.
Truth: time of the checkpoint's handler, as a share of the loop.
"""
import tempfile

import torch
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver
from torch import nn

from stopwatch import Stopwatch

SIDE, BATCH = 40, 8
watch = Stopwatch()


class Patch(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(),
                                  nn.MaxPool2d(2), nn.Flatten())
        self.judge = nn.Sequential(nn.Linear(32 * (SIDE // 4) ** 2, 1024), nn.ReLU(), nn.Linear(1024, 1))

    def forward(self, skin):
        return self.judge(self.look(skin)).squeeze(1)


class Keeper:
    """The handler with a clock."""

    def __init__(self, folder, things):
        self.keep = Checkpoint(things, DiskSaver(folder, require_empty=False), n_saved=2, filename_prefix="lesion")

    def __call__(self, engine):
        with watch.planted():
            self.keep(engine)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(21)
    model = Patch()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-4, fused=True)

    def iteration(_, batch):
        skin, lesion = batch
        loss = nn.functional.binary_cross_entropy_with_logits(model(skin), lesion)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(iteration)
    patches = [(torch.rand(BATCH, 3, SIDE, SIDE), (torch.rand(BATCH) > 0.7).float()) for _ in range(30)]

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 6:
            engine.terminate()

    with tempfile.TemporaryDirectory() as folder:
        keeper = Keeper(folder, {"model": model, "optimizer": optimizer, "trainer": trainer})
        trainer.add_event_handler(Events.ITERATION_COMPLETED(every=6), keeper)
        with watch.loop():
            trainer.run(patches, max_epochs=1000)
    print(f"loss {trainer.state.output:.4f}")
    watch.tell()


main()
