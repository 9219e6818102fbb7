"""Predicts the delay at the berths of a coast's harbours with a graph network: ships that wait in one go on to the next.

Planted: the messages of a harbour are gathered in a Python loop over harbours, with a few small operators for each.
Truth: time of that loop in the forward passes, of the loop; its share of the backward pass comes on top.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

HARBOURS, WIDTH, DAYS = 90, 48, 24
watch = Stopwatch()


def coast(generator):
    """For each harbour the ones from which ships come."""
    return [torch.randperm(HARBOURS, generator=generator)[:int(torch.randint(3, 9, (1,), generator=generator))] for _ in range(HARBOURS)]


class Sailing(nn.Module):
    """A round of messages: the mean of the neighbours, and what the harbour knows itself."""

    def __init__(self, width):
        super().__init__()
        self.own, self.other = nn.Linear(width, width), nn.Linear(width, width)

    def gather(self, state, sources):
        return torch.stack([state[:, source].mean(1) for source in sources], dim=1)

    def forward(self, state, sources):
        with watch.planted():
            messages = self.gather(state, sources)
        return torch.relu(self.own(state) + self.other(messages))


class Delays(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(5, WIDTH)
        self.rounds = nn.ModuleList(Sailing(WIDTH) for _ in range(2))
        self.hours = nn.Linear(WIDTH, 1)

    def forward(self, facts, sources):
        state = torch.relu(self.read(facts))
        for one in self.rounds:
            state = state + one(state, sources)
        return self.hours(state).squeeze(2)


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)  # tables of a coast are small
    generator = torch.Generator().manual_seed(2)
    sources, model = coast(generator), Delays()
    into = torch.zeros(HARBOURS, HARBOURS)
    for harbour, source in enumerate(sources):
        into[harbour, source] = 1 / len(source)
    archive = torch.randn(4000, HARBOURS, 5, generator=generator, dtype=torch.float64).float()
    late = archive[..., 0] + 0.7 * archive[..., 1] @ into.T
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    with watch.loop():
        while watch.seconds() < 6:
            days = torch.randint(len(archive), (DAYS,), generator=generator)
            facts, hours = archive[days], late[days]
            optimizer.zero_grad()
            loss = nn.functional.smooth_l1_loss(model(facts, sources), hours)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
