"""Stages of sleep from two electrodes and an eye, with a monitor that somebody added when the loss became NaN.

Planted: hooks of the monitor compute five statistics and a histogram of each layer's output in each step, as Python numbers.
Truth: time within the hooks, of the loop.
"""
import collections

import torch
from torch import nn

from stopwatch import Stopwatch

CHANNELS, SAMPLES, STAGES, BATCH = 3, 600, 5, 16


def stage_net():
    layers, width = [], CHANNELS
    for wide in (24, 24, 32, 32, 48, 48):
        layers += [nn.Conv1d(width, wide, 7, stride=2 if wide != width else 1, padding=3), nn.BatchNorm1d(wide), nn.ReLU()]
        width = wide
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(8), nn.Flatten(), nn.Linear(8 * width, 64), nn.ReLU(), nn.Linear(64, STAGES))


class Monitor:
    """Keeps the last statistics of all layers, to be printed when something is wrong."""

    def __init__(self, model, watch):
        self.watch = watch
        self.recent = collections.deque(maxlen=2000)
        for name, layer in model.named_modules():
            if not list(layer.children()):
                layer.register_forward_hook(self.hook(name))

    def hook(self, name):
        @torch.no_grad()
        def look(layer, inputs, output):
            with self.watch.planted():
                values = output.detach().float().flatten()
                self.recent.append({
                    "layer": name, "mean": values.mean().item(), "std": values.std().item(),
                    "least": values.min().item(), "most": values.max().item(),
                    "dead": (values == 0).float().mean().item(), "bins": torch.histc(values, 32).tolist()})
                if self.recent[-1]["mean"] != self.recent[-1]["mean"]:
                    print("not a number in", name, list(self.recent)[-20:])
        return look


def nights(count):
    time = torch.arange(SAMPLES) / 20
    stage = torch.randint(0, STAGES, (count,))
    waves = torch.sin(time * (1 + stage[:, None]).float())[:, None] + 0.8 * torch.randn(count, CHANNELS, SAMPLES)
    return waves, stage


def main():
    torch.manual_seed(17)
    model, watch = stage_net(), Stopwatch()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    waves, stages = nights(1200)
    monitor = Monitor(model, watch)
    watch.planted_s = 0.0
    right = 0
    with watch.loop():
        for _ in watch.limited(range(100000), 6):
            chosen = torch.randint(0, len(waves), (BATCH,))
            optimizer.zero_grad(set_to_none=True)
            scores = model(waves[chosen])
            loss = criterion(scores, stages[chosen])
            loss.backward()
            optimizer.step()
            watch.step()
        right = (scores.argmax(1) == stages[chosen]).float().mean().item()
    print(f"loss {loss.item():.3f}, right {right:.2f}, {len(monitor.recent)} records")
    watch.tell()


if __name__ == "__main__":
    main()
