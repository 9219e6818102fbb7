"""Names minerals by their Raman spectra, which a SQLite file keeps as compressed JSON.

Planted: the DataLoader has no workers, so the loop itself selects, unpacks and parses each spectrum.
Truth: time that the loop waits for batches, of the loop.
"""
import json
import os
import sqlite3
import tempfile
import zlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

POINTS, MINERALS, BATCH = 2048, 24, 32


def spectrum(mineral, noise):
    """The mineral's peaks on a slope of fluorescence, as the spectrometer writes them."""
    shift = torch.linspace(0, 1, POINTS)
    centres = torch.rand(5, generator=torch.Generator().manual_seed(mineral))
    peaks = torch.exp(-((shift[:, None] - centres) / 0.01) ** 2).sum(1)
    counts = peaks + 0.3 * shift + 0.2 * torch.rand(POINTS, generator=noise)
    return [round(count, 4) for count in counts.tolist()]


def build_archive(path, count=480):
    noise = torch.Generator().manual_seed(1)
    db = sqlite3.connect(path)
    db.execute("create table spectra (id integer primary key, mineral integer, body blob)")
    for number in range(count):
        mineral = number % MINERALS
        record = {"laser_nm": 532, "exposure_s": 0.5, "counts": spectrum(mineral, noise)}
        db.execute("insert into spectra values (?, ?, ?)", (number, mineral, zlib.compress(json.dumps(record).encode())))
    db.commit()
    db.close()


class Archive(Dataset):
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.ids = [row[0] for row in self.db.execute("select id from spectra order by id")]

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        mineral, body = self.db.execute("select mineral, body from spectra where id = ?", (self.ids[index],)).fetchone()
        record = json.loads(zlib.decompress(body))
        counts = torch.tensor(record["counts"]) / record["exposure_s"]
        return counts / counts.max(), mineral


class PeakNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.Sequential(
            nn.Conv1d(1, 32, 9, stride=2, padding=4), nn.ReLU(),
            nn.Conv1d(32, 64, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv1d(64, 64, 5, stride=4, padding=2), nn.ReLU(),
            nn.AdaptiveAvgPool1d(8))
        self.name = nn.Linear(64 * 8, MINERALS)

    def forward(self, counts):
        return self.name(self.filters(counts[:, None]).flatten(1))


def main():
    torch.manual_seed(21)
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "raman.sqlite")
        build_archive(path)
        loader = DataLoader(Archive(path), batch_size=BATCH, shuffle=True, drop_last=True)
        model = PeakNet()
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
        right = seen = 0
        with watch.loop():
            while watch.seconds() < 6:
                for counts, minerals in watch.limited(watch.batches(loader), 6):
                    optimizer.zero_grad()
                    scores = model(counts)
                    nn.functional.cross_entropy(scores, minerals).backward()
                    optimizer.step()
                    right += int((scores.argmax(1) == minerals).sum())
                    seen += len(minerals)
                    watch.step()
    print(f"{right / seen:.0%} of {seen} spectra were named rightly")
    watch.tell()


if __name__ == "__main__":
    main()
