"""Tells voices of singers apart.

Planted: the mean loss for a report is a sum of tensors that keep the graph and the activations of each step.
Truth: what the process grew by in the loop, of its memory at the end.
"""
import resource

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(83)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(400, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 20))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    total, watch = 0, Stopwatch()
    with watch.loop():
        for _ in watch.limited(range(450), 3.6):
            voices, singers = torch.randn(256, 400), torch.randint(20, (256,))
            loss = nn.functional.cross_entropy(model(voices), singers)
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
            total = total + loss
            watch.step()
            if len(watch.marks) == 3:
                before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    after_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"mean loss {total.item() / len(watch.marks):.3f}")
    watch.tell(1 - before_kb / after_kb)


if __name__ == "__main__":
    main()
