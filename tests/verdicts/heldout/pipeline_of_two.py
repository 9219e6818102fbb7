"""Two ranks share one network that is too large for one of them: it tells who made a violin.

Planted: each batch goes through the whole pipeline before the next one begins, so each rank waits while the other works.
Truth: the first rank's time of waiting for gradients from the second one, of the loop.
"""
import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

BATCH, TONES, WIDTH, MAKERS = 128, 256, 512, 32


def first_half():
    return nn.Sequential(nn.Linear(TONES, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
                         nn.Linear(WIDTH, WIDTH))


def second_half():
    return nn.Sequential(nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, MAKERS))


class Front:
    """Rank 0: has the sounds."""

    def __init__(self, watch):
        self.watch, self.model = watch, first_half()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.sounds = torch.randn(24, BATCH, TONES, generator=torch.Generator().manual_seed(5))

    def step(self, number):
        hidden = self.model(self.sounds[number % 24])
        dist.send(hidden.detach(), dst=1)
        gradient = torch.empty_like(hidden)
        with self.watch.planted():
            dist.recv(gradient, src=1)
        self.optimizer.zero_grad()
        hidden.backward(gradient)
        self.optimizer.step()


class Back:
    """Rank 1: has the makers' names."""

    def __init__(self):
        self.model, self.loss = second_half(), None
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.makers = torch.randint(0, MAKERS, (24, BATCH), generator=torch.Generator().manual_seed(6))

    def step(self, number):
        hidden = torch.empty(BATCH, WIDTH)
        dist.recv(hidden, src=0)
        hidden.requires_grad_()
        self.loss = nn.functional.cross_entropy(self.model(hidden), self.makers[number % 24])
        self.optimizer.zero_grad()
        self.loss.backward()
        dist.send(hidden.grad, dst=0)
        self.optimizer.step()


def time_is_up(watch):
    up = torch.tensor(float(watch.seconds() > 6))
    dist.broadcast(up, src=0)
    return bool(up)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(42)
    watch = Stopwatch()
    half = Front(watch) if dist.get_rank() == 0 else Back()
    number = 0
    with watch.loop():
        while True:
            half.step(number)
            number += 1
            watch.step()
            if number % 20 == 0 and time_is_up(watch):
                break
    if dist.get_rank() == 0:
        watch.tell()
    else:
        print(f"loss {half.loss.item():.3f} after {number} batches")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
