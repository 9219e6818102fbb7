"""Trains a keyword spotter, and keeps three checkpoints, which a thread writes.

Decoy of checkpoints that hold up the loop: the loop only copies the weights.
Truth: time of copying, as a share of the loop.
"""
import os
import tempfile
import threading

import torch
from torch import nn

from stopwatch import Stopwatch


class Spotter(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(40, 128, 5), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(128, 192, 5), nn.ReLU(),
                                  nn.AdaptiveAvgPool1d(8), nn.Flatten())
        self.out = nn.Sequential(nn.Linear(192 * 8, 640), nn.ReLU(), nn.Linear(640, 35))

    def forward(self, sound):
        return self.out(self.conv(sound))


def main():
    torch.manual_seed(32)
    torch.set_num_threads(1)
    model = Spotter()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    sounds, words = torch.randn(300, 40, 98), torch.randint(35, (300,))
    watch, writers, due = Stopwatch(), [], [2, 4.5, 7]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        with watch.loop():
            while watch.seconds() < 9:
                chosen = torch.randint(300, (48,))
                loss = nn.functional.cross_entropy(model(sounds[chosen]), words[chosen])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                if due and watch.seconds() > due[0]:
                    due.pop(0)
                    with watch.planted():
                        copy = {name: value.clone() for name, value in model.state_dict().items()}
                        path = os.path.join(folder, f"{len(due)}.pt")
                        writers.append(threading.Thread(target=torch.save, args=(copy, path)))
                        writers[-1].start()
                watch.step()
        for writer in writers:
            writer.join()
        print(f"loss {loss.item():.3f}; {len(os.listdir(folder))} checkpoints")
    watch.tell()


if __name__ == "__main__":
    main()
