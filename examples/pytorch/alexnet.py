"""torchprof's README on AlexNet: its four listings, and the backward pass.

    python3 alexnet.py             with dwell.torchprof
    python3 alexnet.py --torchprof the same lines with torchprof itself
    python3 alexnet.py --both      both by turns, each listing from the quickest of 20 runs

What torchprof 1.4.0 misses since PyTorch 1.13 is given back to it.
"""
import sys
import warnings

import torch
from torch import nn


class AlexNet(nn.Module):
    """torchvision.models.alexnet(), which not everybody has."""

    def __init__(self, classes=1000):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, kernel_size=11, stride=4, padding=2), nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
            nn.Conv2d(64, 192, kernel_size=5, padding=2), nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
            nn.Conv2d(192, 384, kernel_size=3, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(384, 256, kernel_size=3, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(256, 256, kernel_size=3, padding=1), nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2))
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.Sequential(
            nn.Dropout(), nn.Linear(256 * 6 * 6, 4096), nn.ReLU(inplace=True),
            nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(inplace=True),
            nn.Linear(4096, classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def profilers():
    """The modules that were asked for, each with the same Profile."""
    found = []
    if {"--torchprof", "--both"} & set(sys.argv[1:]):
        from torch.autograd import profiler, profiler_util
        profiler.format_time = profiler_util._format_time
        profiler.format_memory = profiler_util._format_memory
        warnings.filterwarnings("ignore", category=FutureWarning)
        import torchprof
        found.append(torchprof)
    if "--torchprof" not in sys.argv[1:]:
        import dwell.torchprof as torchprof
        found.append(torchprof)
    return found


def profiled(torchprof, model, x, **options):
    with torchprof.Profile(model, **options) as prof:
        model(x)
    return prof


def took(prof):
    return sum(event.self_cpu_time_total for calls in prof.raw()[1].values()
               for events in calls for event in events)


def quickest(modules, model, x, **options):
    """A profile of each module's; of many, by turns, when there are several modules."""
    runs = [[profiled(torchprof, model, x, **options) for torchprof in modules]
            for _ in range(20 if len(modules) > 1 else 1)]
    return [min(of_one, key=took) for of_one in zip(*runs)]


def main():
    cuda = torch.cuda.is_available()
    device = torch.device("cuda" if cuda else "cpu")
    torch.set_num_threads(1)
    modules = profilers()
    model, x = AlexNet().to(device), torch.rand([1, 3, 224, 224]).to(device)
    model(x)  # the first call takes longer

    profiles = quickest(modules, model, x, use_cuda=cuda, profile_memory=True)
    for title, show in (("1. display(show_events=False)", lambda prof: print(prof)),
                        ("2. display(show_events=True)", lambda prof: print(prof.display(show_events=True))),
                        ("3. raw()", show_raw)):
        for torchprof, prof in zip(modules, profiles):
            print(f"{title}, {torchprof.__name__}\n")
            show(prof)

    paths = [("AlexNet", "features", "3"), ("AlexNet", "classifier")]
    for torchprof, prof in zip(modules, quickest(modules, model, x, paths=paths)):
        print(f"4. paths, {torchprof.__name__}\n")
        print(prof)

    for torchprof in modules:
        if torchprof.__name__ == "dwell.torchprof":  # beyond torchprof
            with torchprof.Profile(model, profile_memory=True) as prof:
                model(x).sum().backward()
            print(f"5. backward, {torchprof.__name__}\n")
            print(prof.display(backward=True))


def show_raw(prof):
    trace, event_lists_dict = prof.raw()
    print(trace[2])
    print(event_lists_dict[trace[2].path][0])


if __name__ == "__main__":
    main()
