"""Classifies stars by their spectra.

Planted: every twenty steps the model is evaluated on all stars that were held back.
Truth: time of evaluation, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


@torch.no_grad()
def accuracy(model, spectra, classes):
    model.eval()
    right = sum((model(part).argmax(1) == names).sum().item() for part, names in zip(spectra.split(250), classes.split(250)))
    model.train()
    return right / len(classes)


def main():
    torch.manual_seed(43)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv1d(1, 16, 9, stride=2), nn.ReLU(), nn.Conv1d(16, 32, 9, stride=2), nn.ReLU(), nn.Flatten(),
                          nn.Dropout(0.2), nn.Linear(32 * 57, 7))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    spectra, classes = torch.randn(1500, 1, 250), torch.randint(7, (1500,))
    watch, share = Stopwatch(), 0
    with watch.loop():
        while watch.seconds() < 3.6:
            chosen = torch.randint(500, (64,))
            loss = nn.functional.cross_entropy(model(spectra[chosen]), classes[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            if len(watch.marks) % 20 == 0:
                with watch.planted():
                    share = accuracy(model, spectra[500:], classes[500:])
    print(f"loss {loss.item():.3f}, accuracy {share:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
