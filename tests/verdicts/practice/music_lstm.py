"""Continues melodies with PyTorch's LSTM.

Planted: nothing.
Truth: time of cutting the melodies, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Melodies(nn.Module):
    def __init__(self):
        super().__init__()
        self.notes, self.memory, self.head = nn.Embedding(128, 160), nn.LSTM(160, 320, batch_first=True), nn.Linear(320, 128)

    def forward(self, notes):
        return self.head(self.memory(self.notes(notes))[0])


def main():
    torch.manual_seed(144)
    torch.set_num_threads(1)
    model, watch = Melodies(), Stopwatch()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    songs = torch.randint(128, (100_000,))
    with watch.loop():
        while watch.seconds() < 3.4:
            with watch.planted():
                starts = torch.randint(99_000, (24, 1))
                pieces = songs[starts + torch.arange(25)]
            scores = model(pieces[:, :-1])
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), pieces[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
