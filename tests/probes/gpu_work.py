#!/usr/bin/env python3
"""Work for a GPU, for tools/measure/gpu_check: a small ResNet's training steps, planted causes, and what goes wrong.

usage: gpu_work.py steps | launches | launches-profiler | profiler FILE | sums | fault | fork |
       graph | sums | profiler-later | compiled | nccl | host-late | sync | pageable | loader | compute | mean |
       launch-cost ACTIVITIES LAUNCHES PAUSE

GPU_WORK_TIMES=N makes planted causes and `mean` N times as long.
"""
import json
import os
import resource
import statistics
import sys
import time

import torch
from torch import nn

STEPS, BATCH = 10, 32
TIMES = int(os.environ.get("GPU_WORK_TIMES", "1"))


class Block(nn.Module):
    """A bottleneck block of a ResNet."""

    def __init__(self, inputs, width, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.skip = nn.Identity() if inputs == outputs and stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, values):
        return torch.relu(self.body(values) + self.skip(values))


def resnet(counts=(3, 4, 6, 3)):
    """ResNet-50 with these numbers of blocks."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, count in enumerate(counts):
        for block in range(count):
            layers.append(Block(inputs, 64 << stage, 256 << stage, 2 if block == 0 and stage else 1))
            inputs = 256 << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 100))


class Work:
    """Training steps of ResNet-50 on made-up pictures."""

    def __init__(self):
        torch.manual_seed(1)
        # The choice of convolution algorithms must be the same in each run.
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.deterministic = True
        self.model = resnet().cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.pictures = torch.randn(BATCH, 3, 128, 128).pin_memory()
        self.labels = torch.randint(0, 100, (BATCH,)).pin_memory()

    def step(self):
        loss = nn.functional.cross_entropy(self.model(self.pictures.cuda(non_blocking=True)),
                                           self.labels.cuda(non_blocking=True))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


def mean(steps=100):
    """Prints the mean time of a step, after the first quarter: the device and the host run as they like."""
    work = Work()
    for number in range(steps * TIMES):
        if number == steps * TIMES // 4:
            torch.cuda.synchronize()
            start = time.perf_counter()
        work.step()
    torch.cuda.synchronize()
    print(f"median step: {1e3 * (time.perf_counter() - start) / (steps * TIMES * 3 // 4):.4f} ms")


def launches(steps=60, count=1000):
    """Prints the mean time of a launch in the median step: the device is never the slower one."""
    values, times = torch.zeros(16, device="cuda"), []
    for _ in range(steps):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            values.add_(1)
        times.append(time.perf_counter() - start)
    print(f"median step: {1e3 * statistics.median(times):.4f} ms")


def launch_cost(activities, launches, pause_us):
    """Prints what bench/cupti_cost.c prints, of launches while dwell.profile records these activities ("CPU,CUDA")."""
    import dwell
    device = os.environ.get("GPU_WORK_DEVICE", "cuda")  # "cpu": to rehearse
    wait = torch.cuda.synchronize if device == "cuda" else int
    values, took, now = torch.zeros(16, device=device), [0] * launches, time.perf_counter_ns

    def usage():
        thread, process = resource.getrusage(resource.RUSAGE_THREAD), resource.getrusage(resource.RUSAGE_SELF)
        return thread.ru_stime * 1e6, thread.ru_nvcsw, process.ru_nvcsw - thread.ru_nvcsw

    def measure():
        before, begin = usage(), now()
        for number in range(launches):
            start = now()
            values.add_(1)
            took[number] = now() - start
            while now() < start + pause_us * 1000:
                pass
            if number % 500 == 499:
                wait()
        system_us, switches, others = ((after - was) / launches for was, after in zip(before, usage()))
        wait()
        return {"median_ns": sorted(took)[launches // 2], "p99_ns": sorted(took)[launches * 99 // 100], "system_us": system_us,
                "switches": switches, "others_switches": others, "whole_ns": (now() - begin) // launches}

    measure()
    found = {"plain": measure()}
    with dwell.profile(activities=[getattr(dwell.ProfilerActivity, name) for name in activities.split(",")]):
        found["recorded"] = measure()
    print(json.dumps({**found, "afterwards": measure(), "refused": ""}))


# ---- planted causes: each is a training, which loses most of its time by one cause -------------------------

def train(model, batch, loss_of=lambda output: output.square().mean(), steps_=60, **options):
    """`batch` gives the input of a step; `loss_of` may do more than it should."""
    model = model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6, **options)
    for number in range(steps_ * TIMES):
        optimizer.zero_grad()
        loss_of(model(batch(number))).backward()
        optimizer.step()
    torch.cuda.synchronize()


def host_late():
    """Sixty tiny layers: the device waits for each launch."""
    layers = [layer for _ in range(60) for layer in (nn.Linear(32, 32), nn.Tanh())]
    batch = torch.randn(8, 32, device="cuda")
    train(nn.Sequential(*layers), lambda number: batch, foreach=False)


def sync():
    """The host reads the loss after each forward, then works 3 ms for itself: the device has nothing to do. Without
    the reading, the device would compute meanwhile."""
    batch = torch.randn(4096, 2048, device="cuda")

    def loss_of(output):
        loss = output.square().mean()
        value, end = loss.item(), time.perf_counter() + 3e-3
        while time.perf_counter() < end:
            value = value * 0.5 + 1
        return loss
    train(nn.Sequential(nn.Linear(2048, 4096), nn.ReLU(), nn.Linear(4096, 2048)), lambda number: batch, loss_of)


def pageable():
    """A batch of 64 MiB is copied from memory that is not pinned, and little is computed."""
    batches = [torch.randn(4096, 4096) for _ in range(2)]
    train(nn.Linear(4096, 64), lambda number: batches[number % 2].cuda())


class Slow(torch.utils.data.Dataset):
    """Samples that take 2 ms each to make."""

    def __len__(self):
        return 400

    def __getitem__(self, index):
        end, value = time.perf_counter() + 2e-3, 0
        while time.perf_counter() < end:
            value += 1
        return torch.randn(256)


def loader():
    batches = iter(torch.utils.data.DataLoader(Slow(), batch_size=8))
    train(nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1)), lambda number: next(batches).cuda(), steps_=50)


def compute():
    """Large products: nothing to say."""
    batch = torch.randn(8192, 8192, device="cuda")
    train(nn.Sequential(nn.Linear(8192, 8192), nn.ReLU(), nn.Linear(8192, 8192)), lambda number: batch, steps_=40)


# ---- what a profiler meets ------------------------------------------------------------------------------

def sums():
    """Operators' device time by dwell.profile, then by torch.profiler, of the same work in one process."""
    import dwell
    import torch.profiler

    work = Work()
    for _ in range(3):
        work.step()
    for name, of in (("dwell", dwell), ("torch", torch.profiler)):
        with of.profile(activities=[of.ProfilerActivity.CPU, of.ProfilerActivity.CUDA]) as profile:
            for _ in range(3):
                work.step()
            torch.cuda.synchronize()
        rows = {row.key: row.device_time_total for row in profile.key_averages()}
        for operator in ("aten::convolution_backward", "aten::cudnn_convolution", "aten::_foreach_add_", "aten::copy_",
                         "aten::threshold_backward", "aten::addmm"):
            print("sum", name, operator, round(rows.get(operator, 0)))


def profiler_later():
    """torch.profiler starts after CUDA did: prints how many events of the device it has."""
    work = Work()
    work.step()
    torch.cuda.synchronize()
    print("events", count_profiled(work))


def compiled():
    model = torch.compile(nn.Sequential(nn.Linear(512, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 8)),
                          mode="reduce-overhead")
    batch = torch.randn(64, 512, device="cuda")
    train(model, lambda number: batch, steps_=30)


def nccl():
    import torch.distributed as dist
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517", RANK="0", WORLD_SIZE="1")
    dist.init_process_group("nccl")
    values = torch.ones(1 << 20, device="cuda")
    for _ in range(20):
        dist.all_reduce(values)
    torch.cuda.synchronize()
    print("version", ".".join(map(str, torch.cuda.nccl.version())))
    dist.destroy_process_group()


def count_profiled(work):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for _ in range(3):
            work.step()
        torch.cuda.synchronize()
    return sum(event.device_type == torch.autograd.DeviceType.CUDA for event in profiler.events())


def profiled(function, path=None):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        function()
        torch.cuda.synchronize()
    if path:
        profiler.export_chrome_trace(path)


def steps():
    work = Work()
    for _ in range(STEPS):
        work.step()
    torch.cuda.synchronize()
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


def fault():
    values = torch.randn(1000, device="cuda")
    (values @ values).item()
    try:
        values[torch.tensor([10 ** 6], device="cuda")].sum().item()
        torch.cuda.synchronize()
        print("no fault")
    except RuntimeError as error:
        print("caught", type(error).__name__)
    sys.stdout.flush()


def fork():
    torch.randn(10, device="cuda").sum().item()
    child = os.fork()
    if child == 0:
        sys.exit(0)
    print("child", os.waitpid(child, 0)[1])
    torch.randn(10, device="cuda").sum().item()


def graph():
    values = torch.randn(256, 256, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        values @ values
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        result = torch.relu(values @ values) + 1
    for _ in range(10):
        captured.replay()
    torch.cuda.synchronize()
    print(result.sum().item())


if __name__ == "__main__":
    what = sys.argv[1]
    if what == "profiler":
        profiled(steps, sys.argv[2])
    elif what == "launch-cost":
        launch_cost(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    elif what.endswith("-profiler"):
        profiled(globals()[what.split("-")[0]])
    else:
        globals()[what.replace("-", "_")]()
