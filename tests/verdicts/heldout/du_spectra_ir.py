"""Functional groups from infrared spectra: a long one-dimensional net of residual blocks, with its norms folded away. Inference over a library of spectra.

Clean: slices of one tensor, all batches alike, one thread, inference mode, nothing is planted.
Truth: time of taking the slice and of counting the groups, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

try:
    from dwell import step as mark_step
except ImportError:  # not run under dwell
    def mark_step():
        pass

POINTS, GROUPS, BATCH = 1024, 19, 8
watch = Stopwatch()


class Residual(nn.Module):
    def __init__(self, channels, reach):
        super().__init__()
        self.near = nn.Conv1d(channels, channels, 5, padding=2 * reach, dilation=reach)
        self.mix = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        return x + self.mix(nn.functional.relu(self.near(x)))


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv1d(1, 64, 15, stride=4, padding=7)
        self.body = nn.Sequential(*(Residual(64, reach) for reach in (1, 2, 4, 8)), nn.Conv1d(64, 128, 4, stride=4), *(Residual(128, reach) for reach in (1, 2, 4)))
        self.groups = nn.Linear(128, GROUPS)

    def forward(self, spectra):
        return self.groups(self.body(self.stem(spectra)).amax(2))


def main():
    torch.manual_seed(1800)
    torch.set_num_threads(1)
    library = torch.rand(BATCH * 60, 1, POINTS).cumsum(2)
    library = library - library.mean(2, keepdim=True)
    reader = Reader().eval()
    found = torch.zeros(GROUPS)
    with torch.inference_mode():
        reader(library[:BATCH])
        with watch.loop():
            first = 0
            while watch.seconds() < 6.2:
                with watch.planted():
                    spectra = library[first:first + BATCH]
                    first = (first + BATCH) % len(library)
                said = reader(spectra)
                with watch.planted():
                    found += (said > 0).sum(0)
                watch.step()
                mark_step()
    print("groups:", [int(count) for count in found[:4] / len(watch.marks)])
    watch.tell()


main()
