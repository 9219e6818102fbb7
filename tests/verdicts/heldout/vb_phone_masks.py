"""Learns phones from masked speech: a small encoder with attention fills in frames that are hidden, trained by Ignite on
batches that are made before the loop.

Clean: the usual loop of create_supervised_trainer(), batches of one size.
Truth: time of fetching batches, of the loop.
"""
import torch
from ignite.engine import Events, create_supervised_trainer
from torch import nn

from stopwatch import Stopwatch

FRAMES, BANDS, WIDTH, BATCH = 96, 48, 160, 20


class Filler(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = nn.Parameter(torch.randn(FRAMES, WIDTH) * 0.02)
        self.enter, self.leave = nn.Linear(BANDS, WIDTH), nn.Linear(WIDTH, BANDS)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, activation="relu", batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)

    def forward(self, frames):
        return self.leave(self.body(self.enter(frames) + self.place))


def recordings(count=40):
    generator = torch.Generator().manual_seed(3)
    batches = []
    for _ in range(count):
        pitch = 1 + 4 * torch.rand(BATCH, 1, 1, generator=generator)
        speech = torch.sin(torch.arange(FRAMES).view(1, -1, 1) * pitch / 9 + torch.arange(BANDS) / 5)
        masked = speech * (torch.rand(BATCH, FRAMES, 1, generator=generator) > 0.4)
        batches.append((masked, speech))
    return batches


def main():
    torch.manual_seed(3)
    model, watch = Filler(), Stopwatch()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    trainer = create_supervised_trainer(model, optimizer, nn.functional.mse_loss)
    began = []

    @trainer.on(Events.GET_BATCH_STARTED)
    def fetching(engine):
        began.append(watch.seconds())

    @trainer.on(Events.GET_BATCH_COMPLETED)
    def fetched(engine):
        watch.planted_s += watch.seconds() - began.pop()

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 6.5:
            engine.terminate()

    with watch.loop():
        trainer.run(recordings(), max_epochs=1000)
    print(f"loss {trainer.state.output:.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
