"""Learns codes of documents and keeps them in a file that is mapped into memory.

Planted: each step flushes the map to the disk.
Truth: time of flushing, as a share of the loop.
"""
import os
import tempfile

import numpy as np
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(107)
    torch.set_num_threads(1)
    encoder = nn.Sequential(nn.Linear(800, 700), nn.Tanh(), nn.Linear(700, 128))
    decoder = nn.Linear(128, 800)
    optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.01)
    documents, watch = torch.randn(8000, 800), Stopwatch()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        kept = np.memmap(os.path.join(folder, "codes.f32"), np.float32, "w+", shape=(8000, 128))
        with watch.loop():
            while watch.seconds() < 4.5 and len(watch.marks) < 400:
                chosen = torch.randint(8000, (96,))
                codes = encoder(documents[chosen])
                loss = nn.functional.mse_loss(decoder(codes), documents[chosen])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                kept[chosen.numpy()] = codes.detach().numpy()
                with watch.planted():
                    kept.flush()
                watch.step()
        del kept
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
