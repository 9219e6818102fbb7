"""Trains a scorer of applications, and keeps gradients to explain later which applications mattered.

Planted: a dictionary keeps a copy of the gradients of each step.
Truth: kept bytes, of the largest memory of the process.
"""
import resource

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(227)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(400, 600), nn.ReLU(), nn.Linear(600, 400), nn.ReLU(), nn.Linear(400, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    applications, watch, kept = torch.randn(5000, 400), Stopwatch(), {}
    with watch.loop():
        while watch.seconds() < 3.2 and len(watch.marks) < 260:
            chosen = torch.randint(5000, (256,))
            loss = nn.functional.binary_cross_entropy_with_logits(model(applications[chosen])[:, 0], (chosen % 2).float())
            optimizer.zero_grad()
            loss.backward()
            kept[len(watch.marks)] = {name: weight.grad.clone() for name, weight in model.named_parameters()}
            optimizer.step()
            watch.step()
    size = sum(gradient.nbytes for gradients in kept.values() for gradient in gradients.values())
    print(f"loss {loss.item():.3f}, {len(kept)} steps kept")
    watch.tell(size / (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))


if __name__ == "__main__":
    main()
