"""Trains a layer of spiking neurons, one moment after another.

Planted: hundreds of operators on eight neurons for each picture's hundred moments.
Truth: time of the moments in the forward pass, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def spikes_of(currents, leak):
    voltage = torch.zeros_like(currents[0])
    total = torch.zeros_like(voltage)
    for current in currents:
        voltage = voltage * leak + current
        spike = torch.sigmoid(8 * (voltage - 1))
        voltage = voltage - spike
        total = total + spike
    return total


def main():
    torch.manual_seed(110)
    torch.set_num_threads(1)
    layer, leak, head = nn.Linear(40, 8), nn.Parameter(torch.full((8,), 0.9)), nn.Linear(8, 3)
    optimizer = torch.optim.SGD([*layer.parameters(), leak, *head.parameters()], lr=0.01)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2 and len(watch.marks) < 400:
            currents = layer(torch.rand(100, 4, 40))
            with watch.planted():
                total = spikes_of(currents, leak)
            loss = nn.functional.cross_entropy(head(total), torch.randint(3, (4,)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
