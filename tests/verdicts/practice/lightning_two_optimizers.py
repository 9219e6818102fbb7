"""Trains a coder and its critic in Lightning, with optimizers called by hand.

Planted: nothing.
Truth: time of making the critic's labels, as a share of the loop.
"""
import logging
import warnings

import torch
from lightning import pytorch as pl
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()


class Coder(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.coder = nn.Sequential(nn.Linear(600, 900), nn.ReLU(), nn.Linear(900, 64), nn.Linear(64, 900), nn.ReLU(), nn.Linear(900, 600))
        self.critic = nn.Sequential(nn.Linear(600, 500), nn.LeakyReLU(0.2), nn.Linear(500, 1))

    def training_step(self, batch, _number):
        (real,) = batch
        for_coder, for_critic = self.optimizers()
        made = self.coder(real)
        with watch.planted():
            ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        judged = nn.functional.binary_cross_entropy_with_logits
        for_coder.zero_grad()
        self.manual_backward(nn.functional.mse_loss(made, real) + 0.01 * judged(self.critic(made), ones))
        for_coder.step()
        for_critic.zero_grad()
        self.manual_backward(judged(self.critic(real), ones) + judged(self.critic(made.detach()), zeros))
        for_critic.step()
        watch.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.coder.parameters(), lr=0.01), torch.optim.SGD(self.critic.parameters(), lr=0.01)


def main():
    pl.seed_everything(145)
    torch.set_num_threads(1)
    batches = DataLoader(TensorDataset(torch.randn(40, 192, 600)), batch_size=None)
    trainer = pl.Trainer(max_steps=600, max_time={"seconds": 4}, logger=False, enable_checkpointing=False, accelerator="cpu",
                         enable_progress_bar=False, enable_model_summary=False)
    with watch.loop():
        trainer.fit(Coder(), batches)
    watch.tell()


if __name__ == "__main__":
    main()
