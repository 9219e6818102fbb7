"""Finds cracks in turbine blades with Ignite, with everything that the team once was burnt by.

Planted: nothing. Each iteration calls gc.collect(), but the heap was frozen; gradients are clipped and the weights are
averaged with one operator for all; a line of JSON is written and flushed. All of that takes a moment.
Truth: time of these chores, of the loop.
"""
import gc
import json
import tempfile

import torch
from ignite.engine import Engine, Events
from torch import nn

from stopwatch import Stopwatch

EDGE, BATCH = 96, 6


class Cracks(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(),
                         nn.Conv2d(64, 96, 3, padding=1), nn.ReLU(), nn.Conv2d(96, 1, 1))


def main():
    torch.manual_seed(7)
    watch, model = Stopwatch(), Cracks()
    weights = list(model.parameters())
    average = [w.detach().clone() for w in weights]
    optimizer = torch.optim.SGD(weights, lr=0.01, momentum=0.9)
    blades = torch.randn(8 * BATCH, 1, EDGE, EDGE)
    cracks = (nn.functional.avg_pool2d(blades, 5, 2, 2) > 0.3).float()

    def learn(engine, number):
        at = number * BATCH
        loss = nn.functional.binary_cross_entropy_with_logits(model(blades[at:at + BATCH]), cracks[at:at + BATCH])
        optimizer.zero_grad()
        loss.backward()
        with watch.planted():
            nn.utils.clip_grad_norm_(weights, 1.0, foreach=True)
        optimizer.step()
        return loss.item()

    trainer = Engine(learn)
    journal = tempfile.TemporaryFile("w", encoding="ascii")

    @trainer.on(Events.ITERATION_COMPLETED)
    def chores(engine):
        with watch.planted():
            torch._foreach_lerp_(average, [w.detach() for w in weights], 0.01)
            gc.collect()
            print(json.dumps({"iteration": engine.state.iteration, "loss": engine.state.output}), file=journal, flush=True)
        watch.step()
        if watch.seconds() > 7:
            engine.terminate()

    gc.collect()
    gc.freeze()
    with watch.loop():
        trainer.run(list(range(8)) * 100, max_epochs=20)
    print(f"loss {trainer.state.output:.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
