"""Looks for cracks on X-rays of welds that lie in an archive as packed files.

Planted: each picture is unpacked by a process of gzip of its own, six for each batch, and the loop waits for each.
Truth: time of reading the batches, of the loop.
"""
import gzip
import os
import subprocess
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch

EDGE, BATCH, FILES = 96, 6, 48


class CrackFinder(nn.Module):
    def __init__(self):
        super().__init__()
        self.weld = nn.Sequential(
            nn.Conv2d(1, 48, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(48, 64, 3, padding=1), nn.ReLU(),
            nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(64, 96, 3, padding=1), nn.ReLU())
        self.crack = nn.Conv2d(96, 1, 1)

    def forward(self, pictures):
        return self.crack(self.weld(pictures)).amax((1, 2, 3))


class Archive:
    def __init__(self, folder):
        self.folder = folder
        self.names = []

    def fill(self):
        for number in range(FILES):
            picture = torch.randint(0, 48, (EDGE, EDGE), dtype=torch.uint8)
            if number % 3 == 0:
                picture[number:number + 2, 10:80] += 100
            name = os.path.join(self.folder, f"weld-{number:04}.gz")
            with gzip.open(name, "wb") as file:
                file.write(bytes(picture.flatten().tolist()))
            self.names.append(name)

    def read(self, name):
        data = subprocess.check_output(["gzip", "-dc", name])
        return torch.frombuffer(bytearray(data), dtype=torch.uint8).view(1, EDGE, EDGE)

    def batches(self):
        number = 0
        while True:
            chosen = [self.names[(number + at) % FILES] for at in range(BATCH)]
            yield chosen
            number += BATCH


def main():
    torch.manual_seed(44)
    watch = Stopwatch()
    model = CrackFinder().eval()
    suspects = set()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        archive = Archive(folder)
        archive.fill()
        with watch.loop():
            for names in watch.limited(archive.batches(), 6):
                with watch.planted():
                    pictures = torch.stack([archive.read(name) for name in names])
                scores = model(pictures.float() / 255)
                suspects.update(name for name, score in zip(names, scores.tolist()) if score > 0)
                watch.step()
    print(f"{len(suspects)} of {FILES} welds are suspect")
    watch.tell()


if __name__ == "__main__":
    main()
