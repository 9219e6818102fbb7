"""Learns features of slides, which a thread of its own archives.

Planted: the archive takes 14 ms a step, and its queue has room for two; the loop waits for room.
Truth: time of waiting for room, as a share of the loop.
"""
import queue
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def archive(waiting):
    while waiting.get() is not None:
        time.sleep(0.014)


def main():
    torch.manual_seed(29)
    torch.set_num_threads(1)
    waiting = queue.Queue(2)
    writer = threading.Thread(target=archive, args=(waiting,))
    writer.start()
    encoder, decoder = nn.Linear(784, 300), nn.Linear(300, 784)
    optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.05)
    slides, watch = torch.rand(320, 784), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            features = encoder(slides).relu()
            loss = nn.functional.mse_loss(decoder(features), slides)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                waiting.put(features[0].tolist())
            watch.step()
    waiting.put(None)
    writer.join()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
