"""torchprof's README on AlexNet: the four listings.

    python3 alexnet.py             with dwell.torchprof
    python3 alexnet.py --torchprof the same lines with torchprof itself

torchprof 1.4.0 wants a PyTorch before 1.13.
"""
import sys

import torch
from torch import nn

if "--torchprof" in sys.argv[1:]:
    import torchprof
else:
    import dwell.torchprof as torchprof


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


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = AlexNet().to(device)
    x = torch.rand([1, 3, 224, 224], device=device)
    model(x)  # the first call takes longer

    with torchprof.Profile(model, use_cuda=device == "cuda", profile_memory=True) as prof:
        model(x)
    print("1. display(show_events=False)\n")
    print(prof.display(show_events=False))
    print("2. display(show_events=True)\n")
    print(prof.display(show_events=True))

    print("3. raw()\n")
    trace, event_lists_dict = prof.raw()
    print(trace[2])
    print(event_lists_dict[trace[2].path][0])

    print("4. paths\n")
    paths = [("AlexNet", "features", "3"), ("AlexNet", "classifier")]
    with torchprof.Profile(model, paths=paths) as prof:
        model(x)
    print(prof)

    if torchprof.__name__.startswith("dwell"):
        print("5. forward and backward: beyond torchprof\n")
        with torchprof.Profile(model, profile_memory=True) as prof:
            model(x).sum().backward()
        print(prof.display(backward=True))


if __name__ == "__main__":
    main()
