"""Does a star's light dip because of a planet? A network of one-dimensional convolutions on light curves, trained with Ignite.

Clean: batches lie in memory, Adam is fused, and the only handler looks at the time.
Truth: time of the optimizer's step, as a share of the loop.
"""
import torch
from ignite.engine import Engine, Events
from torch import nn

from stopwatch import Stopwatch

MOMENTS, BATCH = 320, 24
watch = Stopwatch()


def dilated(width, by):
    return nn.Sequential(nn.Conv1d(width, width, 3, padding=by, dilation=by), nn.ReLU())


class Dips(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.first = nn.Conv1d(1, width, 7, padding=3)
        self.more = nn.ModuleList(dilated(width, 2 ** power) for power in range(5))
        self.planet = nn.Linear(width, 1)

    def forward(self, light):
        x = self.first(light)
        for layer in self.more:
            x = x + layer(x)
        return self.planet(x.amax(2)).squeeze(1)


def curves(count):
    made = []
    for _ in range(count):
        light, planet = torch.randn(BATCH, 1, MOMENTS), (torch.rand(BATCH) > 0.5).float()
        for star in range(BATCH):
            if planet[star]:
                light[star, 0, 30 + star::90] -= 2
        made.append((light, planet))
    return made


def main():
    torch.set_num_threads(1)
    torch.manual_seed(9)
    model = Dips()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4, fused=True)

    def iteration(_, batch):
        light, planet = batch
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(light), planet)
        loss.backward()
        with watch.planted():
            optimizer.step()
        watch.step()
        return loss.item()

    trainer = Engine(iteration)

    @trainer.on(Events.ITERATION_COMPLETED)
    def look_at_time(engine):
        if watch.seconds() > 6:
            engine.terminate()

    stars = curves(24)
    with watch.loop():
        trainer.run(stars, max_epochs=1000)
    print(f"loss {trainer.state.output:.4f}")
    watch.tell()


main()
