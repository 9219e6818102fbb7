"""Marks stains on hides in a tannery: a small encoder and decoder, of which a gallery's thread keeps a slow average.

Planted: the gallery's thread holds the lock of the weights while it takes the hash of each for its catalogue, again and again,
and the trainer waits for the lock before its optimizer's step.
Truth: time that the trainer waits for the lock, as a share of the loop.
"""
import hashlib
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def hides(width=32):
    return nn.Sequential(nn.Conv2d(1, width, 3, stride=2, padding=1), nn.SiLU(), nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
                         nn.SiLU(), nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1), nn.SiLU(),
                         nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1))


class Gallery(threading.Thread):
    def __init__(self, model, lock):
        super().__init__(daemon=True)
        self.model, self.lock, self.ended = model, lock, False
        self.average = [p.detach().clone() for p in model.parameters()]
        self.catalogue = {}

    def run(self):
        while not self.ended:
            with self.lock, torch.no_grad():
                for mean, p in zip(self.average, self.model.parameters()):
                    mean.lerp_(p, 0.01)
                data = b"".join(mean.numpy().tobytes() for mean in self.average)
                self.catalogue["average"] = hashlib.pbkdf2_hmac("sha256", data, b"hide", 60000).hex()
            time.sleep(0.03)


def main():
    torch.manual_seed(21)
    model, lock, watch = hides(), threading.Lock(), Stopwatch()
    torch.set_num_threads(1)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4, foreach=True)
    skins = torch.rand(12, 6, 1, 64, 64)
    gallery = Gallery(model, lock)
    gallery.start()
    with watch.loop():
        while watch.seconds() < 6:
            skin = skins[len(watch.marks) % len(skins)]
            loss = nn.functional.binary_cross_entropy_with_logits(model(skin), (skin > 0.9).float())
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                lock.acquire()
            optimizer.step()
            lock.release()
            watch.step()
    gallery.ended = True
    gallery.join()
    print(f"loss {loss.item():.4f}, {gallery.catalogue['average'][:8]}")
    watch.tell()


main()
