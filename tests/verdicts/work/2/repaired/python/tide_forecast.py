"""Forecasts harbour water levels with a GRU over sliding windows."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PAST = 36
AHEAD = 6


def water_level(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    tide = 1.2 * np.sin(2 * np.pi * t / 12.42) + 0.4 * np.sin(2 * np.pi * t / 12.0) + 0.2 * np.sin(2 * np.pi * t / 24.07)
    surge = np.convolve(rng.standard_normal(hours + 47), np.hanning(48) / 24, mode="valid")
    return (tide + surge).astype(np.float32)


class Windows(Dataset):
    def __init__(self, level):
        self.level = torch.from_numpy(level)

    def __len__(self):
        return len(self.level) - PAST - AHEAD + 1

    def __getitem__(self, start):
        past = self.level[start:start + PAST]
        ahead = self.level[start + PAST:start + PAST + AHEAD]
        return past[:, None], ahead


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, AHEAD)

    def forward(self, past):
        return self.head(self.gru(past)[0][:, -1])


def run_epoch(model, loader, optimizer=None):
    total, seen = 0.0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for past, ahead in loader:
            loss = nn.functional.mse_loss(model(past), ahead)
            if optimizer is not None:
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
            total += loss.item() * len(ahead)
            seen += len(ahead)
    return total / seen


def main():
    torch.manual_seed(6)
    torch.set_num_threads(1)
    level = water_level(900, seed=3)
    train = DataLoader(Windows(level[:700]), batch_size=64, shuffle=True)
    check = DataLoader(Windows(level[700:]), batch_size=64)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(16):
        fit = run_epoch(model, train, optimizer)
        held = run_epoch(model, check)
        if epoch % 4 == 3:
            print(f"epoch {epoch} train {fit:.4f} check {held:.4f}")


if __name__ == "__main__":
    main()
