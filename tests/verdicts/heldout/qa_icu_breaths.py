"""Predicts the pressure of a ventilator from the valve's movements, with a bidirectional LSTM in Lightning.

Clean: nothing is planted; Lightning's loop on batches that are in memory.
Truth: nothing comes near a cause; time of drawing batches, of the loop.
"""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

BREATHS, MOMENTS = 48, 40
watch = Stopwatch()


class Ward(Dataset):
    """Whole batches of breaths, made before."""

    def __init__(self, batches):
        generator = torch.Generator().manual_seed(14)
        self.valves = torch.rand(batches, BREATHS, MOMENTS, 3, generator=generator, dtype=torch.float64).float()
        self.pressures = 5 + self.valves[..., 0].cumsum(2) * 0.3 + self.valves[..., 1]

    def __len__(self):
        return len(self.valves)

    def __getitem__(self, number):
        with watch.planted():
            return self.valves[number], self.pressures[number]


class Lung(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.breathe = nn.LSTM(3, 96, num_layers=2, bidirectional=True, batch_first=True)
        self.pressure = nn.Sequential(nn.Linear(192, 64), nn.SELU(), nn.Linear(64, 1))

    def training_step(self, batch, number):
        valves, pressures = batch
        return nn.functional.l1_loss(self.pressure(self.breathe(valves)[0]).squeeze(2), pressures)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3, fused=True)

    def on_train_start(self):
        self.span = watch.loop()
        self.span.__enter__()

    def on_train_batch_end(self, *_):
        watch.step()
        self.trainer.should_stop = watch.seconds() > 6.5

    def on_train_end(self):
        self.span.__exit__(None, None, None)


if __name__ == "__main__":
    torch.manual_seed(2)
    trainer = L.Trainer(accelerator="cpu", max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Lung(), DataLoader(Ward(500), batch_size=None))
    watch.tell()
