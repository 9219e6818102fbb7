"""Separates the parts of a choir: a recurrent mask over spectrograms.

Planted: nothing. A thread answers a monitor by a socket, each step adds a line to a file of JSON and asks for the loss, in
each 30th a few songs are evaluated and the best weights are copied, and gc.collect(0) runs now and then; all of a moment.
Truth: time of these in the loop's own thread, of the loop.
"""
import gc
import json
import socket
import tempfile
import threading

import torch
from torch import nn

from stopwatch import Stopwatch

PARTS, BINS, FRAMES, SONGS = 4, 128, 60, 20


class Separator(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.memory = nn.GRU(BINS, width, batch_first=True)
        self.mask = nn.Linear(width, PARTS * BINS)

    def forward(self, mixed):
        masks = self.mask(self.memory(mixed)[0]).view(*mixed.shape[:2], PARTS, BINS).softmax(2)
        return masks * mixed[:, :, None]


class Monitor:
    def __init__(self):
        self.ours, self.theirs = socket.socketpair()
        self.step = 0
        threading.Thread(target=self.answer, daemon=True).start()

    def answer(self):
        while self.theirs.recv(16):
            self.theirs.send(b"alive %d" % self.step)

    def ask(self, step):
        self.step = step
        self.ours.send(b"well?")
        return self.ours.recv(32)


def sing(count, generator):
    parts = torch.rand(count, FRAMES, PARTS, BINS, generator=generator) ** 4
    return parts.sum(2), parts


def main():
    torch.manual_seed(9)
    generator = torch.Generator().manual_seed(9)
    watch, monitor = Stopwatch(), Monitor()
    model = Separator()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    songs, test = [sing(SONGS, generator) for _ in range(12)], sing(4, generator)
    best, kept = float("inf"), {}
    with tempfile.TemporaryFile("w") as log, watch.loop():
        while watch.seconds() < 6.5:
            step = len(watch.marks)
            mixed, parts = songs[step % len(songs)]
            optimizer.zero_grad()
            loss = (model(mixed) - parts).abs().mean()
            loss.backward()
            optimizer.step()
            with watch.planted():
                log.write(json.dumps({"step": step, "loss": loss.item()}) + "\n")
                log.flush()
                if step % 10 == 9:
                    monitor.ask(step)
                    gc.collect(0)
                if step % 30 == 29:
                    with torch.no_grad():
                        error = (model(test[0]) - test[1]).abs().mean().item()
                    if error < best:
                        best, kept = error, {name: value.clone() for name, value in model.state_dict().items()}
            watch.step()
    print(f"best {best:.4f}, {len(kept)} tensors kept")
    watch.tell()


if __name__ == "__main__":
    main()
