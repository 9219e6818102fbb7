"""Predicts how long a lantern burns, with Ignite and many handlers.

Decoy: eight handlers run after each iteration, but each of them only notes a number.
Truth: time of the handlers, as a share of the loop.
"""
import torch
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(18)
    watch, notes = Stopwatch(), {}
    model = nn.Sequential(nn.Linear(700, 2000), nn.ReLU(), nn.Linear(2000, 2000), nn.ReLU(), nn.Linear(2000, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def update(_engine, batch):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(batch), batch[:, :1])
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(update)
    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")

    def note(engine, name):
        with watch.planted():
            notes[name] = engine.state.iteration

    for number in range(8):
        trainer.add_event_handler(Events.ITERATION_COMPLETED, note, f"lantern {number}")

    @trainer.on(Events.ITERATION_COMPLETED)
    def count():
        watch.step()
        if watch.seconds() > 6:
            trainer.terminate()

    lanterns = [torch.randn(256, 700) for _ in range(16)]
    with watch.loop():
        trainer.run(lanterns, max_epochs=100)
    watch.tell()


if __name__ == "__main__":
    main()
