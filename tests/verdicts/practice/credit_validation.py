"""Scores credits, and validates in eval mode but with gradients enabled.

Planted: the validation after every tenth step builds graphs that nothing uses.
Truth: time of the validation, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def validate(model, rows, kept):
    model.eval()
    losses = [nn.functional.binary_cross_entropy_with_logits(model(part)[:, 0], labels) for part, labels in zip(rows.split(400), kept.split(400))]
    model.train()
    return sum(losses).item() / len(losses)


def main():
    torch.manual_seed(115)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(220, 600), nn.ReLU(), nn.Dropout(0.1), nn.Linear(600, 600), nn.ReLU(), nn.Dropout(0.1), nn.Linear(600, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    rows, kept, watch, score = torch.randn(12000, 220), (torch.rand(12000) > 0.5).float(), Stopwatch(), 0.0
    with watch.loop():
        while watch.seconds() < 3.2:
            chosen = torch.randint(9000, (256,))
            loss = nn.functional.binary_cross_entropy_with_logits(model(rows[chosen])[:, 0], kept[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if len(watch.marks) % 10 == 9:
                with watch.planted():
                    score = validate(model, rows[9000:], kept[9000:])
            watch.step()
    print(f"validation {score:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
