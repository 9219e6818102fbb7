"""A compiled network for telegrams; the lengths of telegrams are new in the first steps.

Planted: the first steps trace the network, once for each of four lengths.
Truth: time of the first four steps beyond that of as many later ones, as a share of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(37)
    torch.set_num_threads(1)
    network = nn.Sequential(nn.Linear(300, 500), nn.LayerNorm(500), nn.GELU(), nn.Linear(500, 500), nn.Tanh(), nn.Linear(500, 20))
    model = torch.compile(network, backend="aot_eager", dynamic=False)
    optimizer, watch = torch.optim.SGD(network.parameters(), lr=0.01), Stopwatch()
    telegrams = [torch.rand(420 + 8 * at, 300) for at in range(4)]
    with watch.loop():
        for at in range(360):
            loss = model(telegrams[at % 4]).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            if at > 60 and watch.seconds() > 8:
                break
    times = watch.step_times()
    watch.tell((sum(times[:4]) - 4 * statistics.median(times[4:])) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
