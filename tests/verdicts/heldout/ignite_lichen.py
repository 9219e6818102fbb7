"""Tells lichens apart with Ignite, and keeps the best networks.

Decoy: checkpoints, a file of metrics that is flushed and forced to the disk, and a validation, all rare and small.
Truth: time of these handlers, of the loop.
"""
import json
import os
import tempfile

import torch
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver
from ignite.metrics import Accuracy
from torch import nn

from stopwatch import Stopwatch

LICHENS, BATCH, EDGE = 14, 20, 32


def make_model():
    return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(256, LICHENS))


def main():
    torch.manual_seed(17)
    watch = Stopwatch()
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    pictures, names = torch.rand(400, 3, EDGE, EDGE), torch.randint(0, LICHENS, (400,))

    def update(engine, at):
        model.train()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(pictures[at:at + BATCH]), names[at:at + BATCH])
        loss.backward()
        optimizer.step()
        return loss.item()

    @torch.no_grad()
    def look(engine, at):
        model.eval()
        return model(pictures[at:at + 10]), names[at:at + 10]

    trainer, evaluator = Engine(update), Engine(look)
    Accuracy().attach(evaluator, "accuracy")

    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "metrics.jsonl"), "w", encoding="utf-8") as file:
        keep = Checkpoint({"model": model}, DiskSaver(os.path.join(folder, "best"), create_dir=True), n_saved=2,
                          score_function=lambda engine: engine.state.metrics["accuracy"], score_name="accuracy")

        @trainer.on(Events.ITERATION_COMPLETED(every=25))
        def note(engine):
            with watch.planted():
                file.write(json.dumps({"step": engine.state.iteration, "loss": engine.state.output}) + "\n")
                file.flush()

        @trainer.on(Events.ITERATION_COMPLETED(every=80))
        def validate(engine):
            with watch.planted():
                evaluator.run([380])
                keep(evaluator)
                os.fsync(file.fileno())

        @trainer.on(Events.ITERATION_COMPLETED)
        def count(engine):
            watch.step()
            if watch.seconds() > 7:
                engine.terminate()

        with watch.loop():
            trainer.run(list(range(0, 380, BATCH)), max_epochs=10_000)
    print(f"loss {trainer.state.output:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
