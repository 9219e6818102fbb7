"""Forecasts the load of a power grid in bfloat16.

Planted: nothing; autocast casts the weights in each step, as it always does.
Truth: time of drawing windows of the load, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(73)
    model = nn.Sequential(nn.Linear(192, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 24))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    load = torch.randn(50_000).cumsum(0) / 100
    windows = load.unfold(0, 216, 1)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            with watch.planted():
                drawn = windows[torch.randint(len(windows), (640,))]
            with torch.autocast("cpu", dtype=torch.bfloat16):
                forecast = model(drawn[:, :192])
            loss = nn.functional.l1_loss(forecast.float(), drawn[:, 192:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
