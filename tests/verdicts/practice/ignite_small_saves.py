"""Classifies pollen with Ignite, and saves the model at times.

Decoy of checkpoints: they are small and rare.
Truth: time of saving, as a share of the loop.
"""
import os
import tempfile

import torch
from ignite.engine import Events, create_supervised_trainer
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(80)
    model = nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
                          nn.Flatten(), nn.Linear(384, 14))
    trainer = create_supervised_trainer(model, torch.optim.SGD(model.parameters(), lr=0.02), nn.CrossEntropyLoss())
    batches = [(torch.rand(24, 3, 32, 32), torch.randint(14, (24,))) for _ in range(40)]
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        @trainer.on(Events.ITERATION_COMPLETED)
        def count(engine):
            watch.step()
            if watch.seconds() > 3:
                engine.terminate()

        @trainer.on(Events.ITERATION_COMPLETED(every=60))
        def save(engine):
            with watch.planted():
                torch.save(model.state_dict(), os.path.join(folder, f"pollen-{engine.state.iteration}.pt"))

        with watch.loop():
            trainer.run(batches, max_epochs=50)
    print(f"loss {trainer.state.output:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
