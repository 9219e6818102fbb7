"""Trains a model of gestures with Lightning, and shows how many it gets right.

The fault: the metric keeps all answers so far in a list, and looks at all of them again after each batch.
"""
import logging
import warnings

import torch
from lightning import pytorch as pl
from torch import nn
from torch.utils.data import DataLoader

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
BATCHES, BATCH, KINDS = 400, 128, 16


class Gestures(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(),
                                    nn.Linear(256, KINDS))
        self.answers, self.wanted = [], []

    def training_step(self, batch, _number):
        kinds = batch[:, :KINDS].argmax(1)
        answer = self.layers(batch)
        return {"loss": nn.functional.cross_entropy(answer, kinds), "answer": answer.detach(), "kinds": kinds}

    def on_train_batch_end(self, outputs, _batch, _number):
        self.answers.append(outputs["answer"])
        self.wanted.append(outputs["kinds"])
        right = sum((answer.argmax(1) == kinds).sum() for answer, kinds in zip(self.answers, self.wanted))
        self.log("right", right / (BATCH * len(self.answers)))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


def main():
    pl.seed_everything(7)
    torch.set_num_threads(1)
    motions = DataLoader(torch.randn(BATCHES, BATCH, 256), batch_size=None)
    trainer = pl.Trainer(max_epochs=1, logger=False, enable_checkpointing=False, accelerator="cpu",
                         enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Gestures(), motions)
    print(f"right: {trainer.callback_metrics['right']:.3f}")


if __name__ == "__main__":
    main()
