"""Learns which whale songs belong together, from two cuts of each recording: a contrastive loss and the usual loop.

Planted: nothing.
Truth: time of cutting the two views, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

SONGS, BATCH, BANDS, FRAMES, CUT = 256, 16, 64, 160, 56


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(BANDS, 256, 5, padding=2), nn.ReLU(), nn.Conv1d(256, 256, 5, padding=2), nn.ReLU(),
                                  nn.Conv1d(256, 384, 5, stride=2), nn.ReLU())
        self.head = nn.Linear(384, 128)

    def forward(self, song):
        return nn.functional.normalize(self.head(self.body(song).mean(-1)), dim=-1)


def main():
    torch.manual_seed(12)
    songs = torch.randn(SONGS, BANDS, FRAMES)
    encoder = Encoder()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=3e-4)
    watch, number = Stopwatch(), 0
    own = torch.arange(BATCH)
    with watch.loop():
        while watch.seconds() < 7:
            with watch.planted():
                at = number * BATCH % (SONGS - BATCH)
                first, second = (number * 7 + 1) % (FRAMES - CUT), (number * 11 + 5) % (FRAMES - CUT)
                song = songs[at:at + BATCH]
                one, other = song[:, :, first:first + CUT], song[:, :, second:second + CUT]
            alike = encoder(one) @ encoder(other).T / 0.1
            loss = nn.functional.cross_entropy(alike, own) + nn.functional.cross_entropy(alike.T, own)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            number += 1
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
