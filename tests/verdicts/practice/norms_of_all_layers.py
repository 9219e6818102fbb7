"""Corrects the drift of buoys, a deep network of narrow layers, with Lightning.

Planted: before each update the module logs the norms of each weight and of each gradient, 192 numbers.
Truth: time of this hook, as a share of the loop.
"""
import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

BATCH, WIDTH, LAYERS, SIGNALS = 128, 192, 48, 60


class Buoy(lightning.LightningModule):
    def __init__(self, watch, rate=1e-3):
        super().__init__()
        self.watch, self.rate = watch, rate
        layers = [nn.Linear(SIGNALS, WIDTH)]
        layers += [nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS - 2)]
        layers += [nn.Linear(WIDTH, 2)]
        self.layers = nn.ModuleList(layers)

    def forward(self, signals):
        x = self.layers[0](signals)
        for layer in self.layers[1:-1]:
            x = x + 0.3 * torch.relu(layer(x))
        return self.layers[-1](x)

    def training_step(self, batch, _):
        signals, drift = batch
        loss = nn.functional.mse_loss(self(signals), drift)
        self.log("loss", loss)
        return loss

    def on_before_optimizer_step(self, optimizer):
        with self.watch.planted():
            norms = {}
            for name, param in self.named_parameters():
                norms[f"weights/{name}"] = param.detach().norm()
                norms[f"gradients/{name}"] = param.grad.norm()
            self.log_dict(norms)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.rate, momentum=0.9)


class Clock(lightning.Callback):
    def __init__(self, watch):
        self.watch = watch

    def on_train_batch_end(self, trainer, *_):
        self.watch.step()
        if self.watch.seconds() > 6:
            trainer.should_stop = True


def voyages(count=40):
    """Batches that are made already, as a sampler in the archive's tool would hand them out."""
    signals = torch.randn(count, BATCH, SIGNALS)
    drift = torch.stack([signals[:, :, :30].mean(2), signals[:, :, 30:].mean(2)], 2)
    return DataLoader(TensorDataset(signals, drift), batch_size=None)


def main():
    lightning.seed_everything(37)
    watch = Stopwatch()
    trainer = lightning.Trainer(accelerator="cpu", max_epochs=1000, logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False, callbacks=[Clock(watch)])
    with watch.loop():
        trainer.fit(Buoy(watch), voyages())
    print(f"loss {trainer.callback_metrics['loss'].item():.4f}, {len(trainer.callback_metrics)} numbers in the log")
    watch.tell()


if __name__ == "__main__":
    main()
