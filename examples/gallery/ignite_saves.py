"""Trains a recommender of books with Ignite.

The fault: Checkpoint's handler saves the model and the optimizer at each second iteration.
"""
import tempfile

import torch
from ignite.engine import Events, create_supervised_trainer
from ignite.handlers import Checkpoint, DiskSaver
from torch import nn

BOOKS, READERS = 6000, 4000


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.books, self.readers = nn.Embedding(BOOKS, 64), nn.Embedding(READERS, 64)
        self.rate = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))

    def forward(self, pairs):
        return self.rate(torch.cat([self.books(pairs[:, 0]), self.readers(pairs[:, 1])], 1))


def main():
    torch.manual_seed(6)
    torch.set_num_threads(1)
    model = Recommender()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    trainer = create_supervised_trainer(model, optimizer, nn.MSELoss())
    pairs = torch.stack([torch.randint(BOOKS, (100, 256)), torch.randint(READERS, (100, 256))], 2)
    batches = [(pair, torch.rand(256, 1)) for pair in pairs]
    with tempfile.TemporaryDirectory() as folder:
        saver = Checkpoint({"model": model, "optimizer": optimizer, "trainer": trainer},
                           DiskSaver(folder, create_dir=False), n_saved=2)
        trainer.add_event_handler(Events.ITERATION_COMPLETED(every=2), saver)

        @trainer.on(Events.EPOCH_COMPLETED)
        def tell(engine):
            print(f"epoch {engine.state.epoch}: loss {engine.state.output:.3f}")

        trainer.run(batches, max_epochs=3)


if __name__ == "__main__":
    main()
