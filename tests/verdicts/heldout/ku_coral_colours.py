"""Grades how bleached corals are from colour histograms along transects, with Lightning and a deep residual network.

Planted: a callback logs the norm of each parameter's gradient and of the parameter itself, one by one, at each step.
Truth: time of this callback before the optimizer's step, of the loop.
"""
import tempfile
import warnings

import lightning as L
import torch
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
watch = Stopwatch()


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.widen, self.narrow = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(3 * width, width)

    def forward(self, x):
        return x + self.narrow(nn.functional.gelu(self.widen(self.norm(x))))


class Bleaching(L.LightningModule):
    def __init__(self, bins=96, width=112, depth=6, grades=6):
        super().__init__()
        self.enter = nn.Linear(bins, width)
        self.body = nn.Sequential(*(Residual(width) for _ in range(depth)))
        self.grade = nn.Linear(width, grades)

    def training_step(self, batch, _):
        loss = nn.functional.cross_entropy(self.grade(self.body(self.enter(batch[0]))), batch[1])
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class Norms(L.Callback):
    """For the curves in the weekly report."""

    def on_before_optimizer_step(self, trainer, module, optimizer):
        with watch.planted():
            for name, parameter in module.named_parameters():
                module.log(f"gradient/{name}", parameter.grad.norm(2).item())
                module.log(f"weight/{name}", parameter.detach().norm(2).item())


class Clock(L.Callback):
    def on_train_start(self, trainer, module):
        self.loop = watch.loop()
        self.loop.__enter__()

    def on_train_batch_end(self, trainer, module, *_):
        watch.step()
        trainer.should_stop = watch.seconds() > 6

    def on_train_end(self, trainer, module):
        self.loop.__exit__(None, None, None)


if __name__ == "__main__":
    torch.manual_seed(3)
    colours = torch.rand(6000, 96)
    grades = (colours[:, :8].sum(1) * 0.75).long().clamp(0, 5)
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(accelerator="cpu", max_epochs=-1, logger=CSVLogger(folder), log_every_n_steps=50, callbacks=[Norms(), Clock()],
                            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
        trainer.fit(Bleaching(), DataLoader(TensorDataset(colours, grades), 192, shuffle=True, drop_last=True))
    watch.tell()
