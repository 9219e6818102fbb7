"""Trains a speaker model, and keeps each batch's features for a plot at the end.

Planted: the list of features grows by 2 MB in each step and is never emptied.
Truth: growth of the process's resident memory during the loop, of its largest value.
"""
import resource

import torch
from torch import nn

from stopwatch import Stopwatch


def resident_bytes():
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(400, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 512))
        self.head = nn.Linear(512, 200)

    def forward(self, frames):
        features = self.body(frames)
        return self.head(features), features


def main():
    torch.manual_seed(10)
    model = Speaker()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch, history = Stopwatch(), []
    before = resident_bytes()
    with watch.loop():
        while watch.seconds() < 9 and len(history) < 900:
            frames, speakers = torch.randn(1024, 400), torch.randint(200, (1024,))
            scores, features = model(frames)
            loss = nn.functional.cross_entropy(scores, speakers)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history.append(features.detach())
            watch.step()
    after = resident_bytes()
    print(f"loss {loss.item():.3f}; the plot has {sum(len(each) for each in history)} points")
    watch.tell((after - before) / after, growth_mb=round((after - before) / 1e6), mb_a_step=round((after - before) / 1e6 / len(history), 2))


if __name__ == "__main__":
    main()
