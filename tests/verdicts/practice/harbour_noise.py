"""Separates ships by their noise in a harbour.

Decoy: every twenty steps a checkpoint is saved and the model is evaluated, but the model and the held back part are small.
Truth: time of both, as a share of the loop.
"""
import io

import torch
from torch import nn

from stopwatch import Stopwatch


@torch.no_grad()
def evaluate(model, noises):
    model.eval()
    mean = model(noises).mean().item()
    model.train()
    return mean


def main():
    torch.manual_seed(173)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv1d(4, 32, 7), nn.ReLU(), nn.Conv1d(32, 32, 7), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    noises, ships, watch, mean = torch.randn(48, 4, 600), torch.randint(3, (48,)), Stopwatch(), 0
    with watch.loop():
        while watch.seconds() < 3.6:
            loss = nn.functional.cross_entropy(model(noises), ships)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            if len(watch.marks) % 20 == 0:
                with watch.planted():
                    torch.save(model.state_dict(), io.BytesIO())
                    mean = evaluate(model, noises[:8])
    print(f"loss {loss.item():.3f}, {mean:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
