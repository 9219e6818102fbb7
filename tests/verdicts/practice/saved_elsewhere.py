"""Learns scents; a thread writes checkpoints of copies, and waits for the disk there.

Decoy: checkpoints are often under way, but the loop only copies its few weights.
Truth: time of copying and of handing over, as a share of the loop.
"""
import io
import os
import queue
import threading

import torch
from torch import nn

from stopwatch import Stopwatch


def keep(waiting):
    with open("scents.pt", "wb", buffering=0) as file:
        while (data := waiting.get()) is not None:
            file.seek(0)
            file.write(data)
            os.fsync(file.fileno())


def main():
    torch.manual_seed(71)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv1d(4, 64, 7), nn.ReLU(), nn.Conv1d(64, 64, 7), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    waiting, scents, kinds, watch = queue.Queue(), torch.rand(24, 4, 300), torch.randint(8, (24,)), Stopwatch()
    thread = threading.Thread(target=keep, args=(waiting,))
    thread.start()
    with watch.loop():
        while watch.seconds() < 5:
            loss = nn.functional.cross_entropy(model(scents), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if len(watch.marks) % 40 == 39 and waiting.empty():
                with watch.planted():
                    buffer = io.BytesIO()
                    torch.save(model.state_dict(), buffer)
                    waiting.put(buffer.getvalue())
            watch.step()
    waiting.put(None)
    thread.join()
    watch.tell()


if __name__ == "__main__":
    main()
