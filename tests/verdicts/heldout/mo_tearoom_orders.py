"""Proposes what guests of a tea room order next, from what they ordered before, with Ignite.

Decoy: an evaluator, checkpoints of the best, a log of each tenth iteration and a check for NaN are attached, as one
would suspect; the evaluation is of two batches each 60 iterations, and the checkpoint is small.
Truth: time of these handlers, of the loop.
"""
import tempfile

import torch
from ignite.engine import Engine, Events, create_supervised_evaluator
from ignite.handlers import Checkpoint, DiskSaver, TerminateOnNan
from ignite.metrics import Loss, TopKCategoricalAccuracy
from torch import nn

from stopwatch import Stopwatch

DISHES, PAST, BATCH = 400, 40, 64


class Waiter(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.dishes = nn.Embedding(DISHES, width)
        self.past = nn.LSTM(width, 112, num_layers=2, batch_first=True)
        self.next = nn.Linear(112, DISHES)

    def forward(self, orders):
        return self.next(self.past(self.dishes(orders))[0][:, -1])


def orders(count, seed):
    generator = torch.Generator().manual_seed(seed)
    taste = torch.randint(1, 30, (count, BATCH, 1), generator=generator)
    served = (torch.arange(PAST + 1) * taste + torch.randint(0, 3, (count, BATCH, PAST + 1), generator=generator)) % DISHES
    return [(batch[:, :-1], batch[:, -1]) for batch in served]


def main():
    torch.manual_seed(4)
    model, watch = Waiter(), Stopwatch()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()

    def serve(engine, batch):
        past, following = batch
        optimizer.zero_grad()
        loss = criterion(model(past), following)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    trainer = Engine(serve)
    evaluator = create_supervised_evaluator(model, {"loss": Loss(criterion), "top five": TopKCategoricalAccuracy(5)})
    trainer.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())
    tasted = orders(2, 99)

    @trainer.on(Events.ITERATION_COMPLETED(every=10))
    def log(engine):
        with watch.planted():
            print(f"iteration {engine.state.iteration} loss {engine.state.output:.4f}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        best = Checkpoint({"model": model}, DiskSaver(folder, create_dir=False, require_empty=False), n_saved=1,
                          score_function=lambda engine: -engine.state.metrics["loss"])

        @trainer.on(Events.ITERATION_COMPLETED(every=60))
        def taste(engine):
            with watch.planted():
                evaluator.run(tasted)
                best(evaluator)

        @trainer.on(Events.ITERATION_COMPLETED)
        def count(engine):
            watch.step()
            if watch.seconds() > 6.5:
                engine.terminate()

        with watch.loop():
            trainer.run(orders(120, 7), max_epochs=40)
    watch.tell()


if __name__ == "__main__":
    main()
