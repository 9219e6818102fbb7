"""Teaches a small network for field recorders what a large one knows about calls of birds.

Planted: nothing, the teacher's and the student's convolutions dominate. Truth: time of choosing the calls, of the loop.
"""
from dataclasses import dataclass

import torch
from torch import nn

from stopwatch import Stopwatch


@dataclass
class Settings:
    birds: int = 30
    batch: int = 32
    temperature: float = 3.0
    soft: float = 0.8
    seconds: float = 6.0


def listener(width, layers, birds):
    """A network on mel spectrograms of 32 x 32."""
    parts = [nn.Conv2d(1, width, 3, stride=2, padding=1), nn.ReLU()]
    for _ in range(layers):
        parts += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(width * 16, birds))


class Distillation:
    def __init__(self, settings):
        self.settings = settings
        self.teacher = listener(64, 3, settings.birds).eval().requires_grad_(False)
        self.student = listener(32, 3, settings.birds)
        self.optimizer = torch.optim.SGD(self.student.parameters(), lr=0.02, momentum=0.9, nesterov=True)

    def loss(self, calls, birds):
        temperature, soft = self.settings.temperature, self.settings.soft
        with torch.no_grad():
            known = (self.teacher(calls) / temperature).softmax(1)
        guess = self.student(calls)
        alike = nn.functional.kl_div((guess / temperature).log_softmax(1), known, reduction="batchmean")
        return soft * temperature ** 2 * alike + (1 - soft) * nn.functional.cross_entropy(guess, birds)

    def learn(self, calls, birds):
        loss = self.loss(calls, birds)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


class Recordings:
    def __init__(self, settings, count=640):
        self.batch = settings.batch
        self.birds = torch.arange(count) % settings.birds
        melody = torch.rand(settings.birds, 1, 32, 32)
        self.calls = melody[self.birds] + 0.3 * torch.randn(count, 1, 32, 32)

    def choose(self):
        chosen = torch.randint(0, len(self.birds), (self.batch,))
        return self.calls[chosen], self.birds[chosen]


def main():
    torch.manual_seed(30)
    settings, watch = Settings(), Stopwatch()
    recordings, distillation = Recordings(settings), Distillation(settings)
    with watch.loop():
        while watch.seconds() < settings.seconds:
            with watch.planted():
                calls, birds = recordings.choose()
            loss = distillation.learn(calls, birds)
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
