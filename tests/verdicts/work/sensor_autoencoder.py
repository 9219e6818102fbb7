"""Autoencoder for pump vibration spectra; writes reconstruction errors for the drift report."""
import argparse
import csv
import json
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
BANDS, BATCH = 128, 256


def make_spectra(n, seed):
    rng = np.random.default_rng(seed)
    freq = np.linspace(0, 1, BANDS)
    base = rng.uniform(0.15, 0.35, (n, 1))
    out = np.zeros((n, BANDS))
    for harmonic in (1, 2, 3):
        out += np.exp(-((freq - base * harmonic) ** 2) / 0.001) / harmonic
    return torch.from_numpy((out + rng.normal(0, 0.05, out.shape)).astype(np.float32))


class SpectrumAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(BANDS, 256), nn.GELU(), nn.Linear(256, 12))
        self.dec = nn.Sequential(nn.Linear(12, 256), nn.GELU(), nn.Linear(256, BANDS))

    def forward(self, x):
        return self.dec(self.enc(x))


class ErrorReport:
    """One line for each spectrum: epoch, row, mean squared error."""

    def __init__(self, path):
        self.file = open(path, "w", newline="")
        self.out = csv.writer(self.file)
        self.seconds = 0.0
        self.rows = 0

    def add(self, epoch, index, recon, x):
        start = time.perf_counter()
        for i in range(len(index)):
            err = ((recon[i] - x[i]) ** 2).mean().item()
            self.out.writerow([epoch, index[i].item(), f"{err:.6f}"])
        self.rows += len(index)
        self.seconds += time.perf_counter() - start

    def add_rows(self, epoch, index, recon, x):
        start = time.perf_counter()
        errs = ((recon - x) ** 2).mean(1).tolist()
        self.out.writerows([epoch, i, f"{e:.6f}"] for i, e in zip(index.tolist(), errs))
        self.rows += len(index)
        self.seconds += time.perf_counter() - start


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--epochs", type=int, default=11)
    args = ap.parse_args()
    torch.manual_seed(2)
    spectra = make_spectra(8192, 5)
    net = SpectrumAE()
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    with tempfile.TemporaryDirectory() as folder:
        report = ErrorReport(os.path.join(folder, "errors.csv"))
        begin = time.perf_counter()
        for epoch in range(args.epochs):
            order = torch.randperm(len(spectra))
            loss_sum = 0.0
            for at in range(0, len(order), BATCH):
                index = order[at:at + BATCH]
                x = spectra[index]
                recon = net(x)
                loss = nn.functional.mse_loss(recon, x)
                opt.zero_grad()
                loss.backward()
                opt.step()
                loss_sum += loss.item()
                if args.repaired:
                    report.add_rows(epoch, index, recon.detach(), x)
                else:
                    report.add(epoch, index, recon, x)
            sched.step()
            print(f"epoch {epoch}  mse {loss_sum / (len(order) / BATCH):.5f}  lr {sched.get_last_lr()[0]:.1e}")
        total = time.perf_counter() - begin
        report.file.close()
        print(f"{report.rows} error rows written")
    print("TRUTH", json.dumps({"share": round(report.seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
