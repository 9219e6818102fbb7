"""Embeds gestures of a hand by dilated convolutions, so that distances are those of dynamic time warping.

Planted: the warped distance of each pair of a batch is computed by two loops in Python, in each step.
Truth: time of these distances, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

FRAMES, PAIRS, MARKERS = 64, 12, 10


class GestureEncoder(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.filters = nn.Conv1d(MARKERS, width, 5, padding=2)
        self.wider = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2 * 2 ** i, dilation=2 ** i) for i in range(4))
        self.head = nn.Linear(width, 24)

    def forward(self, gestures):
        h = torch.relu(self.filters(gestures.transpose(1, 2)))
        for layer in self.wider:
            h = h + torch.relu(layer(h))
        return self.head(h.mean(2))


def warped_distance(cost):
    """The cheapest way through a matrix of costs, a list of lists."""
    infinite = float("inf")
    above = [0.0] + [infinite] * len(cost[0])
    for row in cost:
        left, current = infinite, [infinite]
        for column, value in enumerate(row):
            left = value + min(left, above[column], above[column + 1])
            current.append(left)
        above = current
    return above[-1] / len(cost)


class Gestures:
    def __init__(self):
        self.generator = torch.Generator().manual_seed(14)

    def draw(self):
        speed = 0.2 + torch.rand(PAIRS, 1, 1, generator=self.generator)
        kind = torch.randint(1, 9, (PAIRS, 1, 1), generator=self.generator)
        time = torch.arange(FRAMES).view(1, -1, 1) * speed
        return torch.sin(time * torch.linspace(0.1, 1, MARKERS) + kind) + 0.05 * torch.randn(PAIRS, FRAMES, MARKERS, generator=self.generator)


def main():
    torch.manual_seed(2)
    source, model, watch = Gestures(), GestureEncoder(), Stopwatch()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-4)
    loss = None
    with watch.loop():
        for _ in watch.limited(range(5000), 6):
            left, right = source.draw(), source.draw()
            costs = torch.cdist(left, right)
            with watch.planted():
                wanted = torch.tensor([warped_distance(cost) for cost in costs.tolist()])
            both = model(torch.cat([left, right]))
            distance = (both[:PAIRS] - both[PAIRS:]).norm(dim=1)
            loss = nn.functional.huber_loss(distance, wanted)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
