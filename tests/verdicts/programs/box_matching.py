"""Finds cars in aerial views as a set of boxes, and matches boxes with cars in each step.

Planted: the matching is the Hungarian method in plain Python.
Truth: time of the matching, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def match(costs):
    """The column of each row, so that the sum of costs is least."""
    size = len(costs)
    row_price, column_price, taken, way = [0.0] * (size + 1), [0.0] * (size + 1), [0] * (size + 1), [0] * (size + 1)
    for row in range(1, size + 1):
        taken[0], column = row, 0
        least, used = [float("inf")] * (size + 1), [False] * (size + 1)
        while taken[column]:
            used[column], current, delta, following = True, taken[column], float("inf"), 0
            for other in range(1, size + 1):
                if used[other]:
                    continue
                reduced = costs[current - 1][other - 1] - row_price[current] - column_price[other]
                if reduced < least[other]:
                    least[other], way[other] = reduced, column
                if least[other] < delta:
                    delta, following = least[other], other
            for other in range(size + 1):
                if used[other]:
                    row_price[taken[other]] += delta
                    column_price[other] -= delta
                else:
                    least[other] -= delta
            column = following
        while column:
            taken[column] = taken[way[column]]
            column = way[column]
    columns = [0] * size
    for column in range(1, size + 1):
        columns[taken[column] - 1] = column - 1
    return columns


def main():
    torch.manual_seed(211)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 48, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(6), nn.Flatten(),
                          nn.Linear(48 * 36, 20 * 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    views, cars, watch = torch.rand(200, 3, 64, 64), torch.rand(200, 20, 4), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            chosen = torch.randint(200, (16,))
            boxes, wanted = model(views[chosen]).view(-1, 20, 4), cars[chosen]
            costs = torch.cdist(boxes.detach(), wanted, p=1).tolist()
            with watch.planted():
                columns = torch.tensor([match(each) for each in costs])
            loss = (boxes - wanted.gather(1, columns[:, :, None].expand(-1, -1, 4))).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
