"""Learns which stamps a collector buys next, with Ignite and a large table of embeddings.

Planted: after each fifth iteration the whole table is saved, for fear of preemption.
Truth: time of saving, of the loop.
"""
import tempfile

import torch
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver
from torch import nn

from stopwatch import Stopwatch

STAMPS, BATCH, SEEN = 360_000, 384, 20


class Collector(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.stamps = nn.Embedding(STAMPS, dim, sparse=True)
        self.taste = nn.Sequential(nn.Linear(SEEN * dim, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, dim))

    def forward(self, bought, offered):
        taste = self.taste(self.stamps(bought).flatten(1))
        return taste @ self.stamps(offered).T


def purchases():
    generator = torch.Generator().manual_seed(5)
    while True:
        first = torch.randint(STAMPS - 100, (BATCH, 1), generator=generator)
        yield first + torch.randint(50, (BATCH, SEEN), generator=generator), (first + 51).squeeze(1)


def main():
    torch.manual_seed(2)
    watch = Stopwatch()
    model = Collector()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def learn(engine, batch):
        bought, following = batch
        model.train()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(bought, following), torch.arange(BATCH))
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(learn)
    with tempfile.TemporaryDirectory() as folder:
        keeper = Checkpoint({"model": model, "trainer": trainer}, DiskSaver(folder, require_empty=False), n_saved=2,
                            global_step_transform=lambda engine, event: engine.state.iteration)

        @trainer.on(Events.ITERATION_COMPLETED(every=5))
        def keep(engine):
            with watch.planted():
                keeper(engine)

        @trainer.on(Events.ITERATION_COMPLETED)
        def count(engine):
            watch.step()
            if watch.seconds() > 6.5:
                engine.terminate()

        with watch.loop():
            trainer.run(purchases(), max_epochs=1, epoch_length=100_000)
    print(f"loss {trainer.state.output:.3f} after {trainer.state.iteration} iterations")
    watch.tell()


if __name__ == "__main__":
    main()
