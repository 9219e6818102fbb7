"""Operators: what the step computes, and how.

The planted time is measured around the planted operators, in the loop's thread. Where it lies in
backward or where the truth is a comparison, the script measures it as its function says.

small-forward  a long chain of operators on a tensor of few elements                small-operators
one            one large product of matrices takes most of the step (45%, 70%)      one-operator
layout         images are reordered to channels last and back, again and again      layout-copies
chain          element-wise operators on a tensor that no cache holds               memory-bound-chain
slow-product   each product is of one row: memory limits it                         roofline, one-operator
bf16           large products in float32, where bfloat16 is twice as fast           half-precision, one-operator
float64        large products in float64                                            precision, one-operator
many-tensors   Adam over a thousand small parameters, one after another             optimizer-unfused
large-adam     Adam, fused, over an embedding that is larger than the network       optimizer-dominates
fresh-memory   each step fills tens of megabytes that come from the kernel          page-faults, allocator
allocator      many large tensors are made and dropped, hardly touched              allocator, page-faults
threads        twice as many threads as processors share the operators, or 16       oversubscribed
worker-threads two loader workers compute with 8 threads each                       oversubscribed
one-thread     large products by one thread, while the other processors have no work   thread-count
functions      dwell itself: every call of Python functions is recorded (--functions)  profiler-cost

Decoys: what looks alike
fused-adam     Adam, fused, over a thousand small parameters
few-large      element-wise operators as many as in `chain`, on tensors that a cache holds
reorder-once   images are reordered before the loop
reuse          the memory of `fresh-memory` is allocated once
idle-threads   16 threads are allowed, but operators are too small to use them
prepare-small  a long chain of small operators before the loop
views          transposed views of a tensor, which copy nothing
"""
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from planted import BATCH, Mixer, Run, Training, images, return_memory

if sys.argv[1] in ("fresh-memory", "allocator"):
    return_memory(8)  # tensors of 16 MiB come from the kernel
run = Run(steps=40 if sys.argv[1] == "threads" else 50)  # with too many threads a step takes long
cause, ms = run.cause, run.ms()
cpus = len(os.sched_getaffinity(0))
PRODUCTS = ("one", "bf16", "float64", "one-thread")  # one product a step


def repeat(operator):
    """Calls the function until the planted time has passed."""
    end = time.perf_counter() + run.ms() / 1e3
    while time.perf_counter() < end:
        operator()


def best_ms(operator, calls=5):
    times = []
    for _ in range(calls):
        began = time.perf_counter()
        operator()
        times.append(time.perf_counter() - began)
    return min(times) * 1e3


def count_down(number):
    """A chain of calls of Python functions that do nothing else."""
    return count_down(number - 1) + 1 if number else 0


class Planted:
    """The planted operators of a step, by cause."""

    def __init__(self):
        self.few = torch.ones(16)
        self.picture = torch.randn(BATCH, 32, 32, 32)
        self.large = torch.randn(1 << 23)  # 32 MiB
        self.cached = torch.randn(1 << 13)
        self.weight, self.row = torch.randn(2048, 2048), torch.randn(1, 2048)
        self.buffer = torch.empty(1 << 23)
        self.side = 0
        if cause in PRODUCTS and ms:
            self.side = self.side_for(ms / 2 if cause == "float64" else ms)
            self.left, self.right = torch.randn(self.side, self.side), torch.randn(self.side, self.side)
        if cause == "float64" and ms:
            self.left, self.right = self.left.double(), self.right.double()
        if cause == "bf16" and ms:
            self.compare_precision()
        if cause == "one-thread" and ms:
            self.compare_threads()

    @staticmethod
    def side_for(milliseconds):
        """The size of square matrices whose product takes this long."""
        a = torch.randn(640, 640)
        return max(64, int(640 * (milliseconds / best_ms(lambda: torch.mm(a, a))) ** (1 / 3)) // 16 * 16)

    def compare_precision(self):
        """The time of the product in bfloat16: the truth of `half-precision`, if bfloat16 is faster."""
        fast = best_ms(lambda: torch.mm(self.left.bfloat16(), self.right.bfloat16()))
        run.say(bfloat16_ratio=round(fast / best_ms(lambda: torch.mm(self.left, self.right)), 3))

    def compare_threads(self):
        """The time of the product with all processors: the truth of `thread-count`."""
        one = best_ms(lambda: torch.mm(self.left, self.right))
        torch.set_num_threads(cpus)
        run.say(threads_ratio=round(best_ms(lambda: torch.mm(self.left, self.right)) / one, 3), cpus=cpus)
        torch.set_num_threads(1)

    def small_forward(self):
        for _ in range(20):
            self.few = self.few + 0.0

    def layout(self):
        turned = self.picture.contiguous(memory_format=torch.channels_last)
        self.picture = turned.contiguous(memory_format=torch.contiguous_format)

    def chain(self):
        torch.mul(self.large, 0.5, out=self.buffer)
        self.buffer.add_(1.0).relu_().mul_(2.0).sub_(0.5)

    def few_large(self):
        for _ in range(20):
            self.cached.mul_(0.5).add_(1.0).relu_().mul_(2.0).sub_(0.5)

    def slow_product(self):
        torch.mm(self.row, self.weight)

    def one(self):
        torch.mm(self.left, self.right)

    bf16 = float64 = one_thread = one

    def fresh_memory(self):
        torch.zeros(1 << 22).add_(1.0)

    def reuse(self):
        self.buffer[:1 << 22].zero_().add_(1.0)

    def allocator(self):
        for _ in range(4):
            torch.empty(1 << 22)[::1 << 18].zero_()

    def functions(self):
        count_down(200)

    def call(self):
        operator = getattr(self, cause.replace("-", "_"), None)
        if not operator or not ms:
            return
        if cause in PRODUCTS:
            operator()
        else:
            repeat(operator)


class Threaded(Dataset):
    """Samples that each worker computes with eight threads."""

    def __len__(self):
        return run.count * BATCH

    def __getitem__(self, number):
        if ms:
            torch.set_num_threads(8)
        a = torch.randn(192, 192)
        for _ in range(4):
            a = torch.mm(a, a).clamp(-1, 1)
        return a[:96, :32].reshape(3, 32, 32), number % 10


class Scale(nn.Module):
    """Ten classes from ten pixels. No product of matrices: the library divides even the smallest among threads."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(10)), nn.Parameter(torch.zeros(10))

    def forward(self, x):
        return x * self.weight + self.bias


class Wide(nn.Module):
    """A small network with a thousand parameters beside it, as adapters of a large model are."""

    def __init__(self, count):
        super().__init__()
        self.net = Mixer()
        self.adapters = nn.ParameterList(nn.Parameter(torch.randn(8)) for _ in range(count))

    def forward(self, x):
        return self.net(x)


def optimizer_loop():
    """Optimizers: the planted time is that of step(); the network's own part is less than a millisecond."""
    if cause == "large-adam":
        # Adam takes about 0.35 ns an element where no cache holds its state.
        extra = nn.Parameter(torch.randn(max(1, int(ms / run.speed / 0.35e-6))))
        model = Mixer()
        parameters = [*model.parameters(), extra]
        optimizer = torch.optim.Adam(parameters, 1e-3, fused=True)
        given = [extra]
        network = model
    else:
        # One after another takes about 14 us a parameter; fused all of them together a tenth of a millisecond.
        many = cause == "many-tensors"
        model = Wide(max(1, int(ms / run.speed / 0.014)))
        optimizer = torch.optim.Adam(model.parameters(), 1e-3, fused=not many or not ms, foreach=False)
        given, network = list(model.adapters), model.net
    for parameter in given:
        parameter.grad = torch.randn_like(parameter)
    batches = [images() for _ in range(8)]
    for number in run.steps():
        x, y = batches[number % 8]
        network.zero_grad()  # the given parameters keep their gradients
        functional.cross_entropy(model(x), y).backward()
        began = time.perf_counter()
        optimizer.step()
        run.add(time.perf_counter() - began)
    run.close()


def main():
    if cause in ("many-tensors", "large-adam", "fused-adam"):
        optimizer_loop()
        return
    if cause == "threads" and ms:
        torch.set_num_threads(16 if run.share > 0.2 else 2 * cpus)
    elif cause == "idle-threads":
        torch.set_num_threads(16)
    planted = Planted()
    training, batches = Training(Scale() if cause == "idle-threads" else None), [images() for _ in range(8)]
    if cause == "idle-threads":
        batches = [(x[:, 0, 0, :10].contiguous(), y) for x, y in batches]
    if cause == "prepare-small":
        for _ in range(100):
            planted.small_forward()
    elif cause == "reorder-once":
        for _ in range(100):
            planted.layout()
    loader = iter(DataLoader(Threaded(), BATCH, num_workers=2)) if cause == "worker-threads" else None
    model, optimizer = training.model, training.optimizer
    for number in run.steps():
        x, y = next(loader) if loader else batches[number % 8]
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        if cause == "views":
            for _ in range(20):
                planted.picture.transpose(1, 2).permute(0, 3, 1, 2)
        elif cause not in ("prepare-small", "reorder-once"):
            with run.planting():
                planted.call()
        loss.backward()
        optimizer.step()
    run.close()


if __name__ == "__main__":
    main()
