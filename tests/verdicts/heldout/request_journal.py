"""Looks for faults in castings on pictures that cameras of a foundry send.

Decoy: each request is hashed, takes a lock, writes and flushes two lines of a journal, and sometimes sleeps a moment;
but the network takes nearly all of the time. Truth: time of all of these, of the loop.
"""
import hashlib
import json
import logging
import os
import tempfile
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

CAMERAS, FAULTS = 16, 5


class Inspector(nn.Module):
    def __init__(self):
        super().__init__()
        self.surface = nn.Sequential(
            nn.Conv2d(1, 64, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
            nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
            nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.fault = nn.Linear(64, FAULTS)

    def forward(self, pictures):
        return self.fault(self.surface(pictures))


class Journal:
    """What was asked and answered, for the auditors."""

    def __init__(self, folder):
        self.lock = threading.Lock()
        self.answers = {}
        self.log = logging.getLogger("foundry")
        self.log.setLevel(logging.INFO)
        self.log.propagate = False
        handler = logging.FileHandler(os.path.join(folder, "journal.log"))
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        self.log.addHandler(handler)

    def key(self, pictures):
        return hashlib.sha256(pictures.numpy().tobytes()).hexdigest()

    def ask(self, number, key):
        with self.lock:
            self.log.info("request %d, pictures %s", number, key[:16])
            return self.answers.get(key)

    def answer(self, number, key, faults):
        with self.lock:
            self.answers[key] = faults
            self.log.info(json.dumps({"request": number, "faults": faults, "known": len(self.answers)}))


def main():
    torch.manual_seed(32)
    watch = Stopwatch()
    model = Inspector().eval()
    castings = torch.rand(400, 1, 64, 64)
    number = found = 0
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        journal = Journal(folder)
        with watch.loop():
            while watch.seconds() < 6:
                with watch.planted():
                    pictures = castings[torch.randint(0, len(castings), (CAMERAS,))]
                    key = journal.key(pictures)
                    faults = journal.ask(number, key)
                if faults is None:
                    scores = model(pictures)
                    faults = scores.argmax(1).tolist()
                with watch.planted():
                    journal.answer(number, key, faults)
                    if number % 20 == 0:
                        time.sleep(0.001)  # let the cameras' threads speak
                found += sum(fault > 0 for fault in faults)
                number += 1
                watch.step()
    print(f"{found} faults in {number * CAMERAS} castings")
    watch.tell()


if __name__ == "__main__":
    main()
