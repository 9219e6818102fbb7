"""Sets subtitles of an opera to its music: a compiled network that hears spectra and reads along.

Decoy: compiled before the loop and never again; a loader's worker far ahead, .item(), gc.collect() on a frozen heap, a
thread with a nap, a small trial and a copy of the weights, all rare or small.
Truth: time of all of these within the loop, of the loop.
"""
import gc
import io
import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

FRAMES, BANDS, WORDS, BATCH = 60, 40, 50, 16


class Opera(Dataset):
    def __init__(self, bars=160000):
        self.words = (torch.arange(FRAMES * 64) // 10 * 17) % WORDS
        self.sound = torch.sin(torch.arange(WORDS * BANDS, dtype=torch.float32).view(WORDS, BANDS) * 1.7)
        self.bars = bars

    def __len__(self):
        return self.bars

    def __getitem__(self, bar):
        words = self.words[bar % 63 * FRAMES:][:FRAMES]
        return self.sound[words] + 0.3 * torch.randn(FRAMES, BANDS), words


class Subtitles(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.hear = nn.Sequential(nn.Linear(BANDS, width), nn.LayerNorm(width), nn.GELU())
        self.read = nn.TransformerEncoderLayer(width, 4, 512, dropout=0.0, batch_first=True)
        self.again = nn.TransformerEncoderLayer(width, 4, 512, dropout=0.0, batch_first=True)
        self.word = nn.Linear(width, WORDS)

    def forward(self, spectra):
        return self.word(self.again(self.read(self.hear(spectra))))


def prompter(over, shown):
    """Shows the newest loss on the stage manager's screen."""
    while not over.wait(0.2):
        shown["screen"] = f"{shown['loss']:.3f}"


def main():
    torch.manual_seed(30)
    model, watch = Subtitles(), Stopwatch()
    compiled = torch.compile(model, backend="aot_eager", dynamic=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    rehearsal = torch.randn(BATCH, FRAMES, BANDS)
    for _ in range(2):
        compiled(rehearsal).sum().backward()
    optimizer.zero_grad()
    shown, over = {"loss": 0.0}, threading.Event()
    threading.Thread(target=prompter, args=(over, shown), daemon=True).start()
    gc.collect()
    gc.freeze()
    loader = DataLoader(Opera(), batch_size=BATCH, num_workers=1, prefetch_factor=8)
    batches = iter(loader)
    next(batches)
    best = io.BytesIO()
    with watch.loop():
        for step in watch.limited(range(1, 7000), 6.5):
            with watch.planted():
                spectra, words = next(batches)
            loss = nn.functional.cross_entropy(compiled(spectra).flatten(0, 1), words.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                shown["loss"] = loss.item()
                if step % 50 == 0:
                    gc.collect()
                if step % 60 == 50:
                    best.seek(0)
                    torch.save(model.state_dict(), best)
                    with torch.no_grad():
                        shown["right"] = (model(rehearsal[:4]).argmax(2) == 0).float().mean().item()
            watch.step()
    over.set()
    print(f"loss {shown['loss']:.3f}, {best.tell()} bytes")
    watch.tell()


if __name__ == "__main__":
    main()
