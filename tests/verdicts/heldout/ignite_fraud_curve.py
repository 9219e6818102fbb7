"""Finds fraud in card payments, with Ignite.

Planted: the area under the curve is computed in each iteration from all scores since the begin, which become more and more.
Truth: time of the handler that keeps and ranks them, of the loop.
"""
import torch
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from torch import nn

from stopwatch import Stopwatch

BATCH, FIELDS = 512, 96


class FraudNet(nn.Module):
    def __init__(self, width=384):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(FIELDS, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                                    nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, payment):
        return self.layers(payment).squeeze(1)


class AreaUnderCurve:
    """Of all payments so far."""

    def __init__(self):
        self.scores, self.labels, self.area = [], [], 0.5

    def update(self, scores, labels):
        self.scores.append(scores)
        self.labels.append(labels)

    def compute(self):
        order = torch.cat(self.scores).argsort(descending=True)
        labels = torch.cat(self.labels)[order]
        hits = labels.cumsum(0)
        self.area = ((1 - labels) * hits).sum().item() / max(1.0, (hits[-1] * (len(labels) - hits[-1])).item())
        return self.area


def main():
    torch.manual_seed(7)
    watch = Stopwatch()
    model, area = FraudNet(), AreaUnderCurve()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    generator = torch.Generator().manual_seed(8)
    payments = torch.randn(40, BATCH, FIELDS, generator=generator)
    frauds = (payments[:, :, :4].sum(2) + torch.randn(40, BATCH, generator=generator) > 3).float()

    def update(engine, number):
        model.train()
        scores = model(payments[number])
        loss = nn.functional.binary_cross_entropy_with_logits(scores, frauds[number])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return {"loss": loss.item(), "scores": scores.detach().sigmoid(), "labels": frauds[number]}

    trainer = Engine(update)
    RunningAverage(output_transform=lambda output: output["loss"]).attach(trainer, "loss")

    @trainer.on(Events.ITERATION_COMPLETED)
    def rank(engine):
        with watch.planted():
            area.update(engine.state.output["scores"], engine.state.output["labels"])
            engine.state.metrics["area"] = area.compute()
        watch.step()
        if watch.seconds() > 7:
            engine.terminate()

    with watch.loop():
        trainer.run(list(range(40)), max_epochs=10_000)
    print(f"loss {trainer.state.metrics['loss']:.3f}, area {trainer.state.metrics['area']:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
