"""Tells minerals apart in thin sections of granite: a small U-net, with Ignite.

Clean: a trainer, a running average and a warm-up of the learning rate; sections lie in memory.
Truth: time of all handlers after an iteration, as a share of the loop.
"""
import torch
from ignite.engine import Events, create_supervised_trainer
from ignite.handlers import create_lr_scheduler_with_warmup
from ignite.metrics import RunningAverage
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

SIDE, MINERALS = 48, 5


def twice(before, after):
    return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.GroupNorm(4, after), nn.ReLU(),
                         nn.Conv2d(after, after, 3, padding=1), nn.GroupNorm(4, after), nn.ReLU())


class Grains(nn.Module):
    def __init__(self):
        super().__init__()
        self.fine, self.coarse, self.deep = twice(3, 16), twice(16, 32), twice(32, 64)
        self.up_coarse, self.up_fine = nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)
        self.join_coarse, self.join_fine = twice(64, 32), twice(32, 16)
        self.mineral = nn.Conv2d(16, MINERALS, 1)

    def forward(self, section):
        fine = self.fine(section)
        coarse = self.coarse(nn.functional.max_pool2d(fine, 2))
        deep = self.deep(nn.functional.max_pool2d(coarse, 2))
        coarse = self.join_coarse(torch.cat([coarse, self.up_coarse(deep)], 1))
        return self.mineral(self.join_fine(torch.cat([fine, self.up_fine(coarse)], 1)))


def sections(count=192):
    torch.manual_seed(8)
    seeds = torch.rand(count, 12, 2) * SIDE
    axis = torch.arange(SIDE, dtype=torch.float32)
    places = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1).view(1, -1, 2)
    mineral = (torch.cdist(places.expand(count, -1, -1), seeds).argmin(2) % MINERALS).view(count, SIDE, SIDE)
    colour = torch.rand(MINERALS, 3)[mineral].permute(0, 3, 1, 2).contiguous()
    return TensorDataset(colour + 0.15 * torch.randn_like(colour), mineral)


def main():
    loader = DataLoader(sections(), batch_size=8, shuffle=True, drop_last=True)
    model, watch = Grains(), Stopwatch()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    trainer = create_supervised_trainer(model, optimizer, nn.CrossEntropyLoss())
    began = [0.0]

    @trainer.on(Events.ITERATION_COMPLETED)
    def handlers_begin(engine):
        began[0] = watch.seconds()

    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")
    plain = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.999)
    trainer.add_event_handler(Events.ITERATION_COMPLETED, create_lr_scheduler_with_warmup(plain, 1e-4, 20, 1e-3))

    @trainer.on(Events.ITERATION_COMPLETED)
    def handlers_end(engine):
        watch.planted_s += watch.seconds() - began[0]
        watch.step()
        if watch.seconds() > 6.5:
            engine.terminate()

    with watch.loop():
        trainer.run(loader, max_epochs=100)
    print(f"loss {trainer.state.metrics['loss']:.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
