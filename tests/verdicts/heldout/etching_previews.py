"""Completes scratched etchings; the museum's people want to watch it.

Planted: after each tenth step a sheet of results is written as PNG, whose rows are filtered pixel by pixel in Python.
Truth: time of writing these sheets, of the loop.
"""
import os
import struct
import tempfile
import zlib

import torch
from torch import nn

from stopwatch import Stopwatch

BATCH, EDGE, EVERY = 8, 48, 10


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def paeth(left, above, corner):
    guess = left + above - corner
    a, b, c = abs(guess - left), abs(guess - above), abs(guess - corner)
    return left if a <= b and a <= c else above if b <= c else corner


def write_png(path, sheet):
    """`sheet`: rows of grey values from 0 to 255."""
    before, lines = [0] * len(sheet[0]), []
    for row in sheet:
        line, left, corner = bytearray([4]), 0, 0
        for value, above in zip(row, before):
            line.append((value - paeth(left, above, corner)) & 255)
            left, corner = value, above
        lines.append(bytes(line))
        before = row
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(sheet[0]), len(sheet), 8, 0, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(b"".join(lines), 9)) + chunk(b"IEND", b""))


def make_sheet(scratched, completed, original):
    """A column for each picture, at twice its size: before, after, as it should be."""
    rows = [torch.cat(list(part[:, 0]), 1) for part in (scratched, completed.clamp(0, 1), original)]
    sheet = torch.cat(rows, 0).repeat_interleave(2, 0).repeat_interleave(2, 1)
    return (sheet * 255).round().int().tolist()


class Restorer(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, width, 5, padding=2), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                                    nn.Conv2d(width, 1, 3, padding=1))

    def forward(self, picture):
        return picture + self.layers(picture)


def main():
    torch.manual_seed(9)
    watch = Stopwatch()
    etchings = torch.rand(240, 1, EDGE, EDGE).round()
    model = Restorer()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    step = 0
    with tempfile.TemporaryDirectory() as folder, watch.loop():
        while watch.seconds() < 7.5:
            original = etchings[torch.randint(0, len(etchings), (BATCH,))]
            scratched = original * (torch.rand_like(original) > 0.1)
            completed = model(scratched)
            loss = nn.functional.l1_loss(completed, original)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % EVERY == 0:
                with watch.planted():
                    write_png(os.path.join(folder, f"{step:06}.png"), make_sheet(scratched, completed.detach(), original))
            watch.step()
    print(f"loss {loss.item():.4f} after {step} steps")
    watch.tell()


if __name__ == "__main__":
    main()
