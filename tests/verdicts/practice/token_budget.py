"""Trains on sentences in batches of as many words.

Decoy of inputs whose size varies: batches have many shapes, and each has the same number of words and takes as long.
Truth: mean distance of the median step of each shape from the median of all steps, of that median.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch

LENGTHS = (16, 24, 32, 48, 64, 96)


def main():
    torch.manual_seed(154)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Embedding(4000, 192), nn.Linear(192, 768), nn.GELU(), nn.Linear(768, 192), nn.LayerNorm(192), nn.Linear(192, 300))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch, lengths = Stopwatch(), []
    with watch.loop():
        while watch.seconds() < 3.2:
            length = LENGTHS[torch.randint(len(LENGTHS), ()).item()]
            words = torch.randint(4000, (576 // length, length))
            loss = nn.functional.cross_entropy(model(words).flatten(0, 1), words.flatten() % 300)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            lengths.append(length)
            watch.step()
    print(f"loss {loss.item():.3f}")
    times = watch.step_times()[5:]
    usual = statistics.median(times)
    by_length = [statistics.median(time for time, length in zip(times, lengths[5:]) if length == each) for each in LENGTHS]
    watch.tell(sum(abs(each - usual) for each in by_length) / len(LENGTHS) / usual)


if __name__ == "__main__":
    main()
