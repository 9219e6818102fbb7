"""Hears how a gong was hammered: a stack of gated convolutions with growing strides in time, learned from strikes of one length.

Clean: nothing is planted; one thread computes the same work in each step.
Truth: nothing comes near a cause, 0.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Gate(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.both = nn.Conv1d(channels, 2 * channels, 3, padding=dilation, dilation=dilation)
        self.mix = nn.Conv1d(channels, channels, 1)

    def forward(self, sound):
        value, gate = self.both(sound).chunk(2, 1)
        return sound + self.mix(torch.tanh(value) * torch.sigmoid(gate))


class Hammer(nn.Module):
    def __init__(self):
        super().__init__()
        self.begin = nn.Conv1d(1, 40, 9, stride=4, padding=4)
        self.gates = nn.Sequential(*(Gate(40, 2**n) for n in range(5)))
        self.end = nn.Linear(40, 6)

    def forward(self, sound):
        return self.end(self.gates(self.begin(sound)).mean(2))


torch.manual_seed(8)
torch.set_num_threads(1)
watch = Stopwatch()
model = Hammer()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
strikes = torch.randn(18, 16, 1, 1024)
marks = torch.softmax(torch.randn(18, 16, 6), 2)
with watch.loop():
    while watch.seconds() < 6:
        turn = len(watch.marks) % 18
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(strikes[turn]), marks[turn])
        loss.backward()
        optimizer.step()
        watch.step()
print(f"loss {loss.item():.4f}")
watch.tell()
