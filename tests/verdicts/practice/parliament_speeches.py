"""Recognises speakers in parliament; most contributions are short, and some are speeches.

Planted: one batch in nine is ten times longer than the others.
Truth: time that these batches take more than the median, as a share of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch


class Speakers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(40, 96, 5, padding=2), nn.ReLU(), nn.Conv1d(96, 96, 5, padding=2), nn.ReLU())
        self.head = nn.Linear(192, 30)

    def forward(self, frames):
        hidden = self.layers(frames)
        return self.head(torch.cat([hidden.mean(2), hidden.std(2)], dim=1))


def main():
    torch.manual_seed(122)
    torch.set_num_threads(1)
    model, watch, speeches = Speakers(), Stopwatch(), []
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    with watch.loop():
        while watch.seconds() < 3.3 and len(watch.marks) < 400:
            speech = len(watch.marks) % 9 == 5
            frames = torch.randn(8, 40, 1500 if speech else 150)
            loss = nn.functional.cross_entropy(model(frames), torch.randint(30, (8,)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            speeches.append(speech)
            watch.step()
    print(f"loss {loss.item():.3f}")
    times = watch.step_times()
    usual = statistics.median(times)
    watch.tell(sum(time - usual for time, speech in zip(times, speeches) if speech) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
