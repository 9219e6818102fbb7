"""Estimates the wear of turbines from vibrations, with Ignite and dilated convolutions.

Clean: it plants nothing; a loader of tensors, a running average, one evaluation at the end of the run.
Truth: time from one iteration's end to the next one's begin, of the loop.
"""
import time

import torch
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from torch import nn

from stopwatch import Stopwatch

CHANNELS, LENGTH = 3, 128


class Residual(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.first = nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation)
        self.second = nn.Conv1d(width, width, 1)

    def forward(self, x):
        return x + self.second(torch.relu(self.first(x)))


def main():
    torch.manual_seed(8)
    watch = Stopwatch()
    model = nn.Sequential(nn.Conv1d(CHANNELS, 64, 7, padding=3), *[Residual(64, 2 ** k) for k in range(4)],
                          nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    wear = torch.rand(960, 1)
    shaking = torch.randn(960, CHANNELS, LENGTH) * (0.5 + wear[:, :, None])
    batches = [(shaking[at:at + 48], wear[at:at + 48]) for at in range(0, 960, 48)]

    def update(engine, batch):
        vibration, target = batch
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(model(vibration), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        return loss.item()

    trainer = Engine(update)
    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")
    ended = []

    @trainer.on(Events.ITERATION_STARTED)
    def begin(engine):
        if ended:
            watch.planted_s += time.perf_counter() - ended.pop()

    @trainer.on(Events.ITERATION_COMPLETED)
    def end(engine):
        watch.step()
        ended.append(time.perf_counter())
        if watch.seconds() > 6.5:
            engine.terminate()

    with watch.loop():
        trainer.run(batches, max_epochs=10000)
    with torch.no_grad():
        error = (model(shaking[:96]) - wear[:96]).abs().mean().item()
    print(f"error {error:.3f} after {trainer.state.iteration} iterations, loss {trainer.state.metrics['loss']:.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
