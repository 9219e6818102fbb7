"""Trains an autoencoder of turbines' sounds with Ignite, on machines that may be taken away at any time.

Planted: Ignite's Checkpoint saves model, optimizer and trainer after every second iteration.
Truth: time of saving, of the trainer's run.
"""
import os
import tempfile

import torch
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(217)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(1024, 600), nn.GELU(), nn.Linear(600, 128), nn.GELU(), nn.Linear(128, 600), nn.GELU(), nn.Linear(600, 1024))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    sounds, watch = torch.randn(200, 80, 1024), Stopwatch()

    def update(_engine, batch):
        loss = nn.functional.mse_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(update)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        saver = DiskSaver(os.path.join(folder, "states"), create_dir=True)
        checkpoint = Checkpoint({"model": model, "optimizer": optimizer, "trainer": trainer}, saver, n_saved=2)

        @trainer.on(Events.ITERATION_COMPLETED(every=2))
        def save(engine):
            with watch.planted():
                checkpoint(engine)

        @trainer.on(Events.ITERATION_COMPLETED)
        def end_step(_engine):
            watch.step()
            if watch.seconds() > 3.4:
                trainer.terminate()

        with watch.loop():
            trainer.run(sounds, max_epochs=3)
    print(f"loss {trainer.state.output:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
