"""Where does the grid fail when customers call? Counts of calls on a map go through a network, trained with Ignite.

Decoy: a running average, a schedule of the rate, a mean of the weights, a trial of one batch, a checkpoint and printed lines: rare or tiny.
Truth: time of the mean, the trials, the checkpoints and the lines, as a share of the loop.
"""
import io
import tempfile

import torch
from ignite.engine import Engine, Events, create_supervised_evaluator
from ignite.handlers import Checkpoint, DiskSaver, ParamScheduler
from ignite.handlers.param_scheduler import CosineAnnealingScheduler
from ignite.metrics import Loss, RunningAverage
from torch import nn

from stopwatch import Stopwatch

SIDE, BATCH = 48, 20
watch = Stopwatch()


class Outages(nn.Module):
    def __init__(self, width=28):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(2, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, stride=2, padding=1), nn.ReLU())
        self.deep = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(width, 1, 2, stride=2)

    def forward(self, calls):
        x = self.down(calls)
        return self.up(x + self.deep(x))


def maps(count, seed):
    draw = torch.Generator().manual_seed(seed)
    calls = [torch.rand(BATCH, 2, SIDE, SIDE, generator=draw) for _ in range(count)]
    return [(c, (c[:, :1] * c[:, 1:] > 0.4).float()) for c in calls]


def attach(trainer, model, optimizer, folder):
    trial = maps(1, 2)
    evaluator = create_supervised_evaluator(model, metrics={"bce": Loss(nn.functional.binary_cross_entropy_with_logits)})
    keep = Checkpoint({"model": model, "optimizer": optimizer}, DiskSaver(folder, require_empty=False), n_saved=1)
    mean, lines = [weight.detach().clone() for weight in model.parameters()], io.StringIO()
    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")
    schedule: ParamScheduler = CosineAnnealingScheduler(optimizer, "lr", 1e-3, 1e-4, cycle_size=400)
    trainer.add_event_handler(Events.ITERATION_STARTED, schedule)

    @trainer.on(Events.ITERATION_COMPLETED(every=20))
    def average(_):
        with watch.planted(), torch.no_grad():
            torch._foreach_lerp_(mean, list(model.parameters()), 0.02)

    @trainer.on(Events.ITERATION_COMPLETED(every=60))
    def look(engine):
        with watch.planted():
            evaluator.run(trial)
            print(f"{engine.state.iteration} {engine.state.metrics['loss']:.4f} {evaluator.state.metrics['bce']:.4f}", file=lines)

    @trainer.on(Events.ITERATION_COMPLETED(every=200))
    def store(engine):
        with watch.planted():
            keep(engine)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(11)
    model = Outages()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def iteration(_, batch):
        calls, out = batch
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(calls), out)
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(iteration)
    with tempfile.TemporaryDirectory() as folder:
        attach(trainer, model, optimizer, folder)

        @trainer.on(Events.ITERATION_COMPLETED)
        def count(engine):
            watch.step()
            if watch.seconds() > 6.3:
                engine.terminate()

        with watch.loop():
            trainer.run(maps(25, 1), max_epochs=1000)
    print(f"loss {trainer.state.output:.4f}")
    watch.tell()


main()
