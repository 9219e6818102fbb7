"""Foretells from a day's measures who of a ward needs a doctor at night: convolutions with ever wider gaps, trained with Ignite.

Decoy: handlers at each iteration, a running mean, an evaluation of one batch and a checkpoint now and then, a flushed line: all small.
Truth: time of the handlers, of the loop.
"""
import gc
import tempfile

import torch
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver
from ignite.metrics import Average, RunningAverage
from torch import nn

from stopwatch import Stopwatch

HOURS, MEASURES, BATCH, DAYS = 96, 14, 64, 64 * 20
watch = Stopwatch()


class Night(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        gaps = (1, 2, 4, 8)
        self.measures = nn.Conv1d(MEASURES, width, 5, padding=2)
        self.hours = nn.ModuleList(nn.Conv1d(width, width, 3, padding=gap, dilation=gap) for gap in gaps)
        self.call = nn.Linear(width, 1)

    def forward(self, days):
        x = self.measures(days)
        for hours in self.hours:
            x = x + torch.relu(hours(x))
        return self.call(x.mean(2)).squeeze(1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(14)
    model = Night()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4, fused=True)
    days = torch.randn(DAYS, MEASURES, HOURS)
    called = (days[:, 0].mean(1) + 0.1 * torch.randn(DAYS) > 0).float()
    batches = list(zip(days.split(BATCH), called.split(BATCH)))
    wrong = nn.functional.binary_cross_entropy_with_logits

    def learn(engine, batch):
        loss = wrong(model(batch[0]), batch[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step()
        return loss.item()

    def look(engine, batch):
        with torch.no_grad():
            return wrong(model(batch[0]), batch[1]).item()

    trainer, evaluator = Engine(learn), Engine(look)
    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")
    Average().attach(evaluator, "loss")
    with tempfile.TemporaryDirectory() as folder, open(folder + "/rounds.log", "w", encoding="utf-8") as log:
        safe = Checkpoint({"model": model}, DiskSaver(folder, require_empty=False), n_saved=1)

        @trainer.on(Events.ITERATION_COMPLETED(every=50))
        def rounds(engine):
            with watch.planted():
                evaluator.run(batches[:1])
                safe(engine)
                gc.collect()

        @trainer.on(Events.ITERATION_COMPLETED)
        def write(engine):
            with watch.planted():
                log.write(f"{engine.state.iteration} {engine.state.output:.4f}\n")
                log.flush()
            if watch.seconds() > 6.5:
                engine.terminate()

        gc.collect()
        gc.freeze()
        with watch.loop():
            trainer.run(batches, max_epochs=10000)
    print(f"loss {trainer.state.metrics['loss']:.4f}, apart {evaluator.state.metrics['loss']:.4f}")
    watch.tell()


main()
