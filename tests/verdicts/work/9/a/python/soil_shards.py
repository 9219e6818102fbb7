"""Trains a soil moisture regressor from gamma-coded shards on disk, one month per pass."""
import os
import struct
import tempfile
import zlib

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

BANDS = 40
ROWS = 2400
SHARDS = 10
MONTHS = 18


def write_shards(folder, generator):
    """One compressed file per region: rows of reflectances and the probe's reading."""
    weights = torch.randn(BANDS, generator=generator) / BANDS ** 0.5
    for s in range(SHARDS):
        x = torch.rand(ROWS // SHARDS, BANDS, generator=generator)
        y = torch.tanh(2 * (x - 0.5) @ weights) + 0.05 * torch.randn(len(x), generator=generator)
        rows = torch.cat([x, y[:, None]], dim=1).tolist()
        raw = b"".join(struct.pack(f"<{BANDS + 1}f", *row) for row in rows)
        with open(os.path.join(folder, f"region-{s:02d}.bin"), "wb") as f:
            f.write(zlib.compress(raw, 6))


def gamma_table(levels=16384, iterations=24):
    """Inverts the sensor's response curve numerically."""
    target = [(i + 0.5) / levels for i in range(levels)]
    table = []
    for t in target:
        lo, hi = 0.0, 1.0
        for _ in range(iterations):
            mid = (lo + hi) / 2
            if 0.8 * mid ** 1.7 + 0.2 * mid < t:
                lo = mid
            else:
                hi = mid
        table.append((lo + hi) / 2)
    return torch.tensor(table)


class ShardReader:
    def __init__(self, folder):
        self.table = gamma_table()
        parts = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as f:
                raw = zlib.decompress(f.read())
            parts += [list(row) for row in struct.iter_unpack(f"<{BANDS + 1}f", raw)]
        data = torch.tensor(parts)
        self.y = data[:, -1].clone()
        level = (data[:, :-1] * len(self.table)).long().clamp(max=len(self.table) - 1)
        self.x = self.table[level]

    def get(self, i):
        return self.x[i], self.y[i]


class SoilDataset(Dataset):
    """Opens the shards on first use, in the process that reads them."""

    def __init__(self, folder, rows):
        self.folder = folder
        self.rows = rows
        self.reader = None

    def __len__(self):
        return self.rows

    def __getitem__(self, i):
        if self.reader is None:
            self.reader = ShardReader(self.folder)
        return self.reader.get(i)


class MoistureNet(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.inp = nn.Linear(BANDS, width)
        self.mid = nn.ModuleList(nn.Linear(width, width) for _ in range(4))
        self.norm = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = F.gelu(self.inp(x))
        for lin, norm in zip(self.mid, self.norm):
            h = h + F.gelu(lin(norm(h)))
        return self.out(h).squeeze(1)


def main():
    torch.manual_seed(41)
    generator = torch.Generator().manual_seed(42)
    with tempfile.TemporaryDirectory() as folder:
        write_shards(folder, generator)
        data = SoilDataset(folder, ROWS)
        order = RandomSampler(data, generator=generator)
        loader = DataLoader(data, batch_size=80, sampler=order, num_workers=2)
        model = MoistureNet()
        optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)
        for month in range(MONTHS):
            total = 0.0
            for x, y in loader:
                loss = F.huber_loss(model(x), y)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                total += loss.item()
            if month % 6 == 0 or month == MONTHS - 1:
                print(f"month {month}: mean loss {total / len(loader):.4f}")
        reader = ShardReader(folder)
        with torch.inference_mode():
            error = (model(reader.x) - reader.y).square().mean().sqrt()
        print(f"rmse {error.item():.3f}")


if __name__ == "__main__":
    main()
