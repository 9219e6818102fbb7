"""Grades tea leaves by their texture.

Planted: the evaluation after each twenty-five steps runs the model without no_grad.
Truth: time of evaluation, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def evaluate(model, leaves, grades):
    model.eval()
    losses = [nn.functional.cross_entropy(model(part), names) for part, names in zip(leaves.split(128), grades.split(128))]
    model.train()
    return sum(loss.item() for loss in losses) / len(losses)


def main():
    torch.manual_seed(47)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(4), nn.Flatten(), nn.Linear(16 * 100, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    leaves, grades = torch.randn(1152, 1, 40, 40), torch.randint(6, (1152,))
    watch, held = Stopwatch(), 0
    with watch.loop():
        while watch.seconds() < 3.6:
            chosen = torch.randint(512, (48,))
            loss = nn.functional.cross_entropy(model(leaves[chosen]), grades[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            if len(watch.marks) % 25 == 0:
                with watch.planted():
                    held = evaluate(model, leaves[512:], grades[512:])
    print(f"loss {loss.item():.3f}, held back {held:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
