"""Fine-tunes an image classifier: first the head alone, then the whole network.

Planted: after a third of the time, the backbone is unfrozen, and every later step takes longer.
Truth: time of the later steps above the earlier ones' median, as a share of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch

SECONDS = 9


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
                                      nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(64 * 16, 128), nn.ReLU(), nn.Linear(128, 6))

    def forward(self, images):
        return self.head(self.backbone(images))


def main():
    torch.manual_seed(22)
    model = Classifier()
    model.backbone.requires_grad_(False)
    optimizer = torch.optim.SGD(model.head.parameters(), lr=0.01, momentum=0.9)
    images, labels = torch.rand(20, 16, 3, 32, 32), torch.randint(6, (20, 16))
    watch, unfrozen = Stopwatch(), None
    with watch.loop():
        while watch.seconds() < SECONDS:
            step = len(watch.marks)
            if not unfrozen and watch.seconds() > SECONDS / 3:
                unfrozen = step
                model.backbone.requires_grad_(True)
                optimizer.add_param_group({"params": list(model.backbone.parameters()), "lr": 0.001})
            loss = nn.functional.cross_entropy(model(images[step % 20]), labels[step % 20])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    times = watch.step_times()
    usual = statistics.median(times[5:unfrozen])
    print(f"loss {loss.item():.3f}")
    watch.tell(sum(time - usual for time in times[unfrozen:]) / (watch.ended - watch.began),
               before_ms=round(1e3 * usual, 2), after_ms=round(1e3 * statistics.median(times[unfrozen:]), 2))


if __name__ == "__main__":
    main()
