"""Learns which choir sings, with an Ignite engine.

Planted: every third iteration saves the model and the optimizer, on the loop's thread, and waits for the disk.
Truth: time of saving, as a share of the loop.
"""
import os

import torch
from ignite.engine import Engine, Events
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(600, 900), nn.GELU(), nn.Linear(900, 300), nn.GELU(), nn.Linear(300, 12))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    sounds, choirs, watch = torch.rand(256, 600), torch.randint(12, (256,)), Stopwatch()

    def update(_, batch):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch[0]), batch[1])
        loss.backward()
        optimizer.step()
        return loss.detach()

    trainer = Engine(update)

    @trainer.on(Events.ITERATION_COMPLETED(every=3))
    def save(engine):
        with watch.planted(), open("choir.pt", "wb") as file:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "at": engine.state.iteration}, file)
            file.flush()
            os.fsync(file.fileno())

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 5:
            engine.terminate()

    with watch.loop():
        trainer.run([(sounds, choirs)] * 100, max_epochs=50)
    watch.tell()


if __name__ == "__main__":
    main()
