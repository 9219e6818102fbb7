"""Forecasts glucose from sensors of the skin: a recurrent network with two losses. Clean: nothing odd.

Truth: time of choosing patients and of the running mean, of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

HOURS, SENSORS, AHEAD = 40, 24, 6


class Forecast(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(SENSORS, width), nn.ReLU())
        self.memory = nn.LSTM(width, width, batch_first=True)
        self.level, self.alarm = nn.Linear(width, AHEAD), nn.Linear(width, 1)

    def forward(self, hours):
        last = self.memory(self.encoder(hours))[0][:, -1]
        return self.level(last), self.alarm(last).squeeze(1)


def main():
    torch.manual_seed(16)
    watch = Stopwatch()
    hours = torch.randn(1920, HOURS, SENSORS)
    levels = hours[:, -AHEAD:, 0].cumsum(1)
    alarms = (levels.min(1).values < -2).float()
    loader = DataLoader(TensorDataset(hours, levels, alarms), batch_size=48, shuffle=True, drop_last=True)
    model = Forecast()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-4)
    mean = 0.0
    with watch.loop():
        while watch.seconds() < 7:
            for seen, level, alarm in watch.limited(watch.batches(loader), 7):
                said, alert = model(seen)
                loss = nn.functional.smooth_l1_loss(said, level)
                loss = loss + 0.3 * nn.functional.binary_cross_entropy_with_logits(alert, alarm)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                with watch.planted():
                    mean += 0.02 * (loss.item() - mean)
                watch.step()
    print(f"mean loss {mean:.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
