"""Removes soot from photographs of murals, with Ignite.

Planted: SSIM is attached to the trainer itself and computed on each batch after its iteration, in windows of 11 by 11.
Truth: time of the metric, as a share of the loop.
"""
import torch
from ignite.engine import Engine, Events
from ignite.handlers import CosineAnnealingScheduler
from ignite.metrics import SSIM, RunningAverage
from torch import nn

from stopwatch import Stopwatch

SIDE, BATCH = 48, 4


class Cleaner(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.enter = nn.Conv2d(3, width, 3, padding=1)
        self.body = nn.ModuleList(nn.Conv2d(width, width, 3, padding=2 ** i, dilation=2 ** i) for i in range(2))
        self.leave = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x):
        h = torch.relu(self.enter(x))
        for layer in self.body:
            h = h + torch.relu(layer(h))
        return (x + self.leave(h)).clamp(0, 1)


def murals(count=300):
    generator = torch.Generator().manual_seed(31)
    axis = torch.linspace(0, 6, SIDE)
    for _ in range(count):
        tone = torch.rand(BATCH, 3, 1, 1, generator=generator) * 3
        clean = ((axis.view(1, 1, -1, 1) * tone).sin() * (axis.view(1, 1, 1, -1) + tone).cos() + 1) / 2
        yield clean * (0.5 + 0.4 * torch.rand(BATCH, 1, SIDE, SIDE, generator=generator)), clean


class TimedSSIM(SSIM):
    """With the script's clock around what the metric does."""

    def __init__(self, watch, **settings):
        self.watch = watch
        super().__init__(**settings)

    def iteration_completed(self, engine):
        with self.watch.planted():
            super().iteration_completed(engine)


def main():
    torch.manual_seed(0)
    model, watch = Cleaner(), Stopwatch()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    def clean_batch(engine, batch):
        sooty, clean = batch
        optimizer.zero_grad()
        cleaned = model(sooty)
        loss = nn.functional.l1_loss(cleaned, clean)
        loss.backward()
        optimizer.step()
        return {"y_pred": cleaned.detach(), "y": clean, "loss": loss.item()}

    trainer = Engine(clean_batch)
    similarity = TimedSSIM(watch, data_range=1.0, kernel_size=(11, 11), sigma=(1.5, 1.5),
                           output_transform=lambda output: (output["y_pred"], output["y"]))
    similarity.attach(trainer, "similarity")
    RunningAverage(output_transform=lambda output: output["loss"]).attach(trainer, "loss")
    trainer.add_event_handler(Events.ITERATION_STARTED, CosineAnnealingScheduler(optimizer, "lr", 2e-3, 1e-4, 300))

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 6.5:
            engine.terminate()

    @trainer.on(Events.EPOCH_COMPLETED | Events.TERMINATE)
    def tell(engine):
        print(f"epoch {engine.state.epoch}: {engine.state.metrics}")

    data = list(murals(60))
    with watch.loop():
        trainer.run(data, max_epochs=50)
    watch.tell()


if __name__ == "__main__":
    main()
