"""Takes the wind out of recordings of chimes: mixing over channels and over time by turns, on spectrograms.

Planted: each mixing of channels turns the whole tensor round with permute().contiguous(), and turns it back after.
Truth: time of the copies, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


class AlongTime(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, (1, 5), padding=(0, 2), groups=channels)

    def forward(self, sound):
        return torch.relu(self.conv(sound))


class AcrossChannels(nn.Module):
    """The norm and the linear layer want channels last."""

    def __init__(self, channels):
        super().__init__()
        self.norm, self.mix = nn.LayerNorm(channels), nn.Linear(channels, channels)

    def forward(self, sound):
        with watch.planted():
            last = sound.permute(0, 2, 3, 1).contiguous()
        mixed = self.mix(self.norm(last))
        with watch.planted():
            return mixed.permute(0, 3, 1, 2).contiguous()


class Calm(nn.Module):
    def __init__(self, channels, depth):
        super().__init__()
        self.enter = nn.Conv2d(1, channels, 1)
        self.rounds = nn.ModuleList(nn.ModuleList([AlongTime(channels), AcrossChannels(channels)]) for _ in range(depth))
        self.leave = nn.Conv2d(channels, 1, 1)

    def forward(self, sound):
        state = self.enter(sound)
        for along, across in self.rounds:
            state = state + across(along(state))
        return self.leave(state)


@torch.inference_mode()
def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    model = Calm(24, 4).eval()
    shelf = torch.rand(12, 2, 1, 128, 256)
    quiet = 0.0
    with watch.loop():
        while watch.seconds() < 6:
            quiet = model(shelf[len(watch.marks) % len(shelf)]).mean()
            watch.step()
    print(f"quiet {quiet.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
