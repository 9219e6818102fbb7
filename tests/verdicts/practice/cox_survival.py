"""Estimates how long machines last, with Cox's partial likelihood over all machines.

Planted: the running logarithm of sums over 120000 machines, which one operator computes, takes most of a step.
Truth: time of that operator in the forward pass, as a share of the loop; the backward pass calls it again.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(214)
    torch.set_num_threads(1)
    model = nn.Linear(12, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    machines = torch.randn(120_000, 12)
    lasted = (torch.rand(120_000) * machines[:, 0].exp()).sort(descending=True)
    machines, failed, watch = machines[lasted.indices], torch.rand(120_000) < 0.7, Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            risk = model(machines)[:, 0]
            with watch.planted():
                at_risk = torch.logcumsumexp(risk, 0)
            loss = ((at_risk - risk) * failed).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
