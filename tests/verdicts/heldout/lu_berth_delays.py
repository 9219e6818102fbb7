"""How late a ship will berth, from the positions that it sent in the last hours: a transformer's encoder, trained with Ignite.

Planted: an evaluator runs over the whole harbour log of the last week after each eighth iteration.
Truth: time of the evaluator's runs, as a share of the loop.
"""
import torch
from ignite.engine import Engine, Events, create_supervised_evaluator
from ignite.metrics import MeanAbsoluteError
from torch import nn

from stopwatch import Stopwatch

POSITIONS, FEATURES, BATCH = 24, 10, 64
watch = Stopwatch()


class Berth(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.lift = nn.Linear(FEATURES, width)
        self.hour = nn.Parameter(0.02 * torch.randn(POSITIONS, width))
        layer = nn.TransformerEncoderLayer(width, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.late = nn.Linear(width, 1)

    def forward(self, positions):
        return self.late(self.body(self.lift(positions) + self.hour).mean(1)).squeeze(1)


def harbour_log(batches, seed):
    draw = torch.Generator().manual_seed(seed)
    log = []
    for _ in range(batches):
        positions = torch.randn(BATCH, POSITIONS, FEATURES, generator=draw)
        log.append((positions, positions[:, -4:, :3].sum((1, 2)).tanh() + 0.1 * torch.randn(BATCH, generator=draw)))
    return log


def make_trainer(model, optimizer):
    def iteration(_, batch):
        model.train()
        optimizer.zero_grad()
        positions, late = batch
        loss = nn.functional.smooth_l1_loss(model(positions), late)
        loss.backward()
        optimizer.step()
        return loss.item()

    return Engine(iteration)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(2)
    model = Berth()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, fused=True)
    trainer = make_trainer(model, optimizer)
    evaluator = create_supervised_evaluator(model, metrics={"hours": MeanAbsoluteError()})
    week, best = harbour_log(14, 3), {"hours": float("inf")}

    @trainer.on(Events.ITERATION_COMPLETED(every=8))
    def look_at_week(_):
        with watch.planted():
            evaluator.run(week)
        if evaluator.state.metrics["hours"] < best["hours"]:
            best["hours"] = evaluator.state.metrics["hours"]

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 6:
            engine.terminate()

    with watch.loop():
        trainer.run(harbour_log(40, 4), max_epochs=1000)
    print(f"loss {trainer.state.output:.4f}, best {best['hours']:.3f} hours")
    watch.tell()


main()
