"""Over time: some steps take longer than the others.

The planted time is measured around the planted lines, in the loop's thread. `compilation` and `shapes`
measure a first call against the median of later ones with the same shape.

spikes         every fifteenth step computes metrics in Python                      slow-steps
sleep-spikes   every fifteenth step waits for a service                             slow-steps
drift          a metric over all losses so far: each step takes a little longer     drift
change         from the middle of the loop on each step does more                   change-point
sizes          a few batches have much larger images                                input-size-variance
shapes         the first batch of a size computes tables for it; it comes again     first-shapes
compilation    torch.compile compiles anew for each size, in the loop               compilation
breaks         a compiled function breaks its graph, and calls itself                graph-breaks
first          the first step loads for a second: all others are alike              warm-up

Decoys: what looks alike
jitter         every step takes a random time more, the same all over the run
early-change   the first four steps are slow
same-sizes     sizes alternate in every step, and every step has its share
compile-once   torch.compile compiles in the first step only
spike-last     one slow step, the last
"""
import random
import time

import torch
from torch import nn
from torch.nn import functional

from planted import BATCH, Mixer, Run, Training, compute, images, wait

run = Run(steps=90)
cause, ms = run.cause, run.ms()
random.seed(0)
SPIKE = 15


def sizes_loop():
    """Images of two sizes; a large one takes about k times as long as a small one."""
    training, small = Training(), images()
    if cause == "same-sizes":
        large = (torch.randn(BATCH, 3, 48, 48), small[1])
        resize = nn.AdaptiveAvgPool2d(32)
        for number in run.steps():
            x, y = large if number % 2 else small
            training.one((resize(x), y))
        return
    # Every tenth batch has so many images more that they take the planted time of ten steps.
    more = BATCH + round(BATCH * 10 * run.share / (1 - run.share))
    large = images(more)
    usual = []
    for number in run.steps():
        big = number % 10 == 9 and ms
        began = time.perf_counter()
        training.one(large if big else small)
        took = time.perf_counter() - began
        if big:
            run.add(max(0.0, took - sorted(usual)[len(usual) // 2]))
        else:
            usual.append(took)


class Positions(nn.Module):
    """Computes a table for each number of images that it has not seen before, and keeps it."""

    def __init__(self):
        super().__init__()
        self.net, self.tables = Mixer(), {}

    def forward(self, x):
        if len(x) not in self.tables:
            with run.planting():
                table = torch.zeros(len(x), 1)
                end = time.perf_counter() + run.ms() * 6 / 1e3
                while time.perf_counter() < end:
                    table = table + torch.sin(torch.randn(len(x), 4096)).mean(1, keepdim=True) * 0
            self.tables[len(x)] = table
        return self.net(x) + self.tables[len(x)]


def shapes_loop():
    """Every sixth step has a number of images that was not seen before; the other steps repeat them."""
    training, seen = Training(Positions() if ms else Mixer()), 0
    for number in run.steps():
        if number % 6 == 0:
            seen += 1
        training.one(images(BATCH - 4 + (seen if number % 6 == 0 else random.randint(1, seen)) % 20))


def broken(x, depth):
    """Each call is compiled as two graphs."""
    if depth == 0:
        return x
    x = torch.tanh(x)
    torch._dynamo.graph_break()
    return broken(x * 2, depth - 1)


class Compiled(nn.Module):
    """A compiled part behind the network. For `breaks` the network is small: a break takes a tenth of a millisecond."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(3072, 64), nn.ReLU(), nn.Linear(64, 10)) if cause == "breaks" else Mixer()
        self.weight = nn.Parameter(torch.ones(10))
        self.depth = max(1, round(25 * run.share)) if run.share else 0

    def tail(self, x):
        x = torch.tanh(x * self.weight)
        if cause == "breaks":
            return broken(x, self.depth)
        return x * 2


def compile_loop():
    """The planted time of `compilation` is the first call with a size, less the median of later calls; of
    `breaks`, the call of the compiled part."""
    torch._dynamo.config.recompile_limit = torch._dynamo.config.cache_size_limit = 200
    module = Compiled()
    tail = torch.compile(module.tail, backend="aot_eager" if cause == "compilation" else "eager", dynamic=False)
    optimizer = torch.optim.SGD(module.parameters(), 0.01)
    sizes, usual, fresh = [BATCH], [], 0
    # To compile this function takes about 60 ms.
    every = max(1, round(60 / ms)) if cause == "compilation" and ms else 0
    for number in run.steps():
        new = bool(every) and number > 0 and number % every == 0
        if new:
            fresh += 1
            sizes.append(BATCH + fresh)
        x, y = images(BATCH)
        optimizer.zero_grad()
        hidden = module.net(x)
        wide = hidden.new_zeros(sizes[-1] if new else BATCH, 10)
        wide[:BATCH] = hidden
        began = time.perf_counter()
        out = tail(wide)[:BATCH]
        took = time.perf_counter() - began
        functional.cross_entropy(out, y).backward()
        optimizer.step()
        if cause == "breaks":
            run.add(took)
        elif new:
            run.add(max(0.0, took - sorted(usual)[len(usual) // 2]))
        else:
            usual.append(took)


def spent(number):
    """The planted milliseconds of this step."""
    ms, middle, last = run.ms(), run.count // 2, run.count - 1
    if cause in ("spikes", "sleep-spikes"):
        return ms * SPIKE if number % SPIKE == SPIKE - 1 else 0
    if cause == "drift":
        return ms * 2 * number / run.count
    if cause == "change":
        return ms * 2 if number >= middle else 0
    if cause == "jitter":
        return random.uniform(0, 1.5)
    if cause == "first":
        return 1000 * (number == 0)
    if cause == "early-change":
        return 40 * (number < 4)
    if cause == "spike-last":
        return 30 * (number == last)
    return 0


def plain_loop():
    training, batches = Training(), [images() for _ in range(8)]
    model, optimizer = training.model, training.optimizer
    for number in run.steps():
        x, y = batches[number % 8]
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        with run.planting():
            (wait if cause == "sleep-spikes" else compute)(spent(number))
        loss.backward()
        optimizer.step()


if cause in ("sizes", "same-sizes"):
    sizes_loop()
elif cause == "shapes":
    shapes_loop()
elif cause in ("compilation", "compile-once", "breaks"):
    compile_loop()
else:
    plain_loop()
run.close()
