"""Learns which coins are genuine from four sides of each.

Decoy of copies: tensors are transposed, expanded, split and viewed all the time, but nothing is copied.
Truth: time of these views in the forward pass, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(246)
    torch.set_num_threads(1)
    weight, shift = nn.Parameter(torch.randn(700, 480) / 25), nn.Parameter(torch.zeros(700))
    second, head = nn.Parameter(torch.randn(700, 700) / 27), nn.Linear(700, 2)
    optimizer = torch.optim.SGD([weight, shift, second, *head.parameters()], lr=0.01)
    coins, watch = torch.randn(2000, 4, 480), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            chosen = torch.randint(2000, (80,))
            sides = coins[chosen]
            with watch.planted():
                rows, across, back = sides.view(-1, 480), weight.transpose(0, 1), second.permute(1, 0)
                added = shift.expand(320, 700)
            hidden = torch.relu(torch.addmm(added, rows, across))
            hidden = torch.relu(hidden @ back)
            with watch.planted():
                sides = hidden.unflatten(0, (80, 4)).unbind(1)
            loss = nn.functional.cross_entropy(head(sides[0] + sides[1] + sides[2] + sides[3]), chosen % 2)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
