"""Distil a wide digit classifier into a small one (soft targets, temperature 3)."""
import argparse
import json
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
SIDE, TEMP = 16, 3.0


def make_digits(n, seed):
    """Ten fixed blurry glyphs, moved about and made noisy."""
    glyph = torch.rand(10, 1, 5, 5, generator=torch.Generator().manual_seed(1))
    glyph = nn.functional.interpolate(glyph, size=(SIDE, SIDE), mode="bilinear")[:, 0]
    gen = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 10, (n,), generator=gen)
    dx = torch.randint(-2, 3, (n,), generator=gen)
    x = torch.stack([glyph[k].roll(int(d), 1) for k, d in zip(y.tolist(), dx.tolist())])
    return (x + 0.35 * torch.randn(x.shape, generator=gen))[:, None], y


def conv_net(width):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(2 * width * 16, 10))


def fit_teacher(net, loader):
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()


class Progress:
    """Agreement of student and teacher, kept for the report."""

    def __init__(self):
        self.agree = self.seen = 0
        self.seconds = 0.0

    def update(self, teacher, student, x):
        start = time.perf_counter()
        with torch.no_grad():
            self.count(teacher(x), student(x))
        self.seconds += time.perf_counter() - start

    def count(self, t_logits, s_logits):
        self.agree += (t_logits.argmax(1) == s_logits.argmax(1)).sum().item()
        self.seen += len(t_logits)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--epochs", type=int, default=5)
    args = ap.parse_args()
    torch.manual_seed(12)
    loader = DataLoader(TensorDataset(*make_digits(1920, 2)), batch_size=64, shuffle=True)
    xt, yt = make_digits(500, 3)
    teacher, student = conv_net(40), conv_net(8)
    fit_teacher(teacher, loader)
    teacher.eval().requires_grad_(False)
    opt = torch.optim.Adam(student.parameters(), lr=3e-3)
    progress = Progress()
    begin = time.perf_counter()
    for epoch in range(args.epochs):
        for x, y in loader:
            with torch.no_grad():
                t_logits = teacher(x)
            s_logits = student(x)
            soft = nn.functional.kl_div(nn.functional.log_softmax(s_logits / TEMP, 1),
                                        nn.functional.softmax(t_logits / TEMP, 1),
                                        reduction="batchmean") * TEMP ** 2
            loss = 0.7 * soft + 0.3 * nn.functional.cross_entropy(s_logits, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if args.repaired:
                progress.count(t_logits, s_logits)
            else:
                progress.update(teacher, student, x)
        print(f"epoch {epoch}  loss {loss.item():.4f}  agreement {progress.agree / progress.seen:.3f}")
    total = time.perf_counter() - begin
    with torch.no_grad():
        for name, net in (("teacher", teacher), ("student", student)):
            print(f"{name} test accuracy {(net(xt).argmax(1) == yt).float().mean():.3f}")
    print("TRUTH", json.dumps({"share": round(progress.seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
