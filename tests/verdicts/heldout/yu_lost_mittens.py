"""Matches lost mittens to their twins: pictures' features become short codes, close for a pair, far for hard strangers.

Planted: in each twelfth step the codes of the whole lost-property office are computed and ordered anew, to find hard strangers.
Truth: time of that search, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


class Office:
    """What was handed in: the features, and for each mitten a stranger that looks like it."""

    def __init__(self, count, generator):
        self.features = torch.randn(count, 128, generator=generator)
        self.stranger = torch.randint(count, (count,), generator=generator)
        self.age = 0

    def batch(self, model, size, generator):
        if self.age % 12 == 0:
            with watch.planted():
                self.search(model)
        self.age += 1
        pick = torch.randint(len(self.features), (size,), generator=generator)
        mine = self.features[pick]
        return mine, mine + 0.3 * torch.randn(mine.shape, generator=generator), self.features[self.stranger[pick]]

    @torch.no_grad()
    def search(self, model):
        codes = nn.functional.normalize(model(self.features), dim=1)
        for part in range(0, len(codes), 500):
            near = (codes[part:part + 500] @ codes.T).sort(dim=1, descending=True).indices
            self.stranger[part:part + 500] = near[:, 5]


def main():
    torch.manual_seed(9)
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(10)
    model = nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 32))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    office = Office(1500, generator)
    with watch.loop():
        while watch.seconds() < 7:
            mine, twin, other = office.batch(model, 256, generator)
            loss = nn.functional.triplet_margin_loss(model(mine), model(twin), model(other))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
