"""Names mushrooms with Ignite.

Planted: a handler saves the model and its optimizer after each fourth iteration.
Truth: time of the handler, as a share of the loop.
"""
import tempfile

import torch
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(10)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(1024, 1600), nn.ReLU(), nn.Linear(1600, 1600), nn.ReLU(), nn.Linear(1600, 30))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    mushrooms, kinds = torch.rand(48, 1024), torch.arange(48) % 30

    def train(engine, _):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(mushrooms), kinds)
        loss.backward()
        optimizer.step()
        return loss.detach()

    trainer = Engine(train)
    with tempfile.TemporaryDirectory() as folder:
        save = Checkpoint({"model": model, "optimizer": optimizer}, DiskSaver(folder, require_empty=False), n_saved=2,
                          global_step_transform=lambda *_: trainer.state.iteration)

        @trainer.on(Events.ITERATION_COMPLETED)
        def mark(engine):
            if engine.state.iteration % 4 == 0:
                with watch.planted():
                    save(engine)
            watch.step()
            if watch.seconds() > 6:
                engine.terminate()

        with watch.loop():
            trainer.run(range(100000), max_epochs=1)
    watch.tell()


if __name__ == "__main__":
    main()
