"""Names the bells of harbours from their sound: log spectra made beforehand, a convolutional network with groups, mixed labels.

Clean: the usual loop over batches that lie in memory, one shape, two threads.
Truth: 0.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def block(inside, outside, stride):
    return nn.Sequential(nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.GroupNorm(4, outside), nn.ReLU())


class Bells(nn.Module):
    def __init__(self, harbours=20):
        super().__init__()
        self.stem = block(1, 24, 2)
        self.body = nn.Sequential(block(24, 48, 1), block(48, 64, 2), block(64, 64, 1))
        self.head = nn.Linear(64, harbours)

    def forward(self, spectra):
        return self.head(self.body(self.stem(spectra)).mean((2, 3)))


def mixed(spectra, labels, share=0.7):
    return share * spectra + (1 - share) * spectra.flip(0), share * labels + (1 - share) * labels.flip(0)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(1)
    stored = torch.randn(10, 6, 1, 48, 64)
    labels = nn.functional.one_hot(torch.randint(20, (10, 6)), 20).float()
    model, watch = Bells(), Stopwatch()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, nesterov=True)
    model(stored[0]).sum().backward()
    with watch.loop():
        for number in watch.limited(range(100_000), 6):
            spectra, wanted = mixed(stored[number % 10], labels[number % 10])
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(spectra), wanted)
            loss.backward()
            optimizer.step()
            watch.step()
    watch.tell(0, loss=round(loss.item(), 3))


if __name__ == "__main__":
    main()
