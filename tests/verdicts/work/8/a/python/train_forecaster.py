"""Trains the day-ahead load forecaster of the grid operator.

The history of the substations is archived as one .npz file per quarter.  The
model is a small dilated convolution network that predicts the next 24 hours
from the last week; it is validated on the most recent quarter.
"""
import os
import tempfile

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import ConcatDataset, DataLoader, Dataset

HOURS = 24 * 91
STATIONS = 32
PAST, FUTURE = 168, 24


def write_archive(folder, quarters):
    """Stands in for the export of the historian."""
    rng = np.random.default_rng(42)
    base = rng.uniform(20, 120, STATIONS)
    phase = rng.uniform(0, 24, STATIONS)
    paths = []
    for q in range(quarters):
        hour = np.arange(HOURS)[:, None] + q * HOURS
        daily = np.sin(2 * np.pi * (hour + phase) / 24)
        weekly = np.where((hour // 24) % 7 < 5, 1.0, 0.75)
        season = 1 + 0.2 * np.cos(2 * np.pi * hour / 8766)
        load = base * season * weekly * (1 + 0.3 * daily)
        load += rng.normal(0, 0.03, load.shape) * base
        path = os.path.join(folder, f"load_{q:02d}.npz")
        np.savez_compressed(path, load=load.astype(np.float32),
                            scale=base.astype(np.float32))
        paths.append(path)
    return paths


class QuarterDataset(Dataset):
    """Windows of one quarter: the index runs over stations and start hours."""

    def __init__(self, path, stride):
        self.path = path
        self.starts = range(0, HOURS - PAST - FUTURE, stride)

    def __len__(self):
        return STATIONS * len(self.starts)

    def read(self):
        with np.load(self.path) as archive:
            return archive["load"], archive["scale"]

    def __getitem__(self, i):
        station, k = divmod(i, len(self.starts))
        load, scale = self.read()
        begin = self.starts[k]
        window = load[begin:begin + PAST + FUTURE, station] / scale[station] - 1.0
        window = torch.from_numpy(window)
        return window[:PAST], window[PAST:]


class Forecaster(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.inlet = nn.Conv1d(1, width, 3, padding=1)
        self.layers = nn.ModuleList(
            nn.Conv1d(width, width, 3, padding=2 ** i, dilation=2 ** i) for i in range(5))
        self.norms = nn.ModuleList(nn.GroupNorm(4, width) for _ in range(5))
        self.outlet = nn.Linear(width * 24, FUTURE)

    def forward(self, x):
        h = self.inlet(x.unsqueeze(1))
        for conv, norm in zip(self.layers, self.norms):
            h = h + F.gelu(norm(conv(h)))
        return x[:, -FUTURE:] + self.outlet(h[:, :, -24:].flatten(1))


def train_epoch(model, loader, optimizer, scheduler):
    model.train()
    total = torch.zeros(())
    for past, future in loader:
        loss = F.huber_loss(model(past), future, delta=0.1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.detach()
    return float(total) / len(loader)


@torch.inference_mode()
def validate(model, loader):
    model.eval()
    error = naive = 0.0
    count = 0
    for past, future in loader:
        error += float((model(past) - future).abs().sum())
        naive += float((past[:, -FUTURE:] - future).abs().sum())
        count += future.numel()
    return error / count, naive / count


def save_checkpoint(folder, model, optimizer, epoch):
    path = os.path.join(folder, "checkpoint.pt")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "epoch": epoch}, path + ".tmp")
    os.replace(path + ".tmp", path)


def main():
    torch.manual_seed(4)
    with tempfile.TemporaryDirectory(prefix="forecast_") as folder:
        paths = write_archive(folder, quarters=4)
        history = ConcatDataset([QuarterDataset(p, stride=190) for p in paths[:-1]])
        recent = QuarterDataset(paths[-1], stride=300)
        shuffle = torch.Generator().manual_seed(8)
        train_loader = DataLoader(history, batch_size=64, shuffle=True, generator=shuffle)
        valid_loader = DataLoader(recent, batch_size=128)

        model = Forecaster()
        epochs = 2
        optimizer = torch.optim.NAdam(model.parameters(), lr=1.5e-3)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(
            optimizer, T_max=epochs * len(train_loader))
        for epoch in range(epochs):
            loss = train_epoch(model, train_loader, optimizer, scheduler)
            error, naive = validate(model, valid_loader)
            save_checkpoint(folder, model, optimizer, epoch)
            print(f"epoch {epoch}: loss {loss:.4f}  MAE {error:.3f} (yesterday {naive:.3f})")


if __name__ == "__main__":
    main()
