"""Evaluates the surface-defect segmentation network on the acceptance set.

Reports pixel accuracy, mean IoU and per-class IoU; the acceptance set is generated
here from a fixed seed (scratches, dents and stains on a textured sheet).
"""
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES = ["sheet", "scratch", "dent", "stain", "hole", "fold", "dust", "rust", "burr", "crack", "label"]
CLASSES += ["weld", "ripple", "bubble", "scale", "tear", "glue", "ink", "edge", "chip", "blur"]


class SheetImages(Dataset):
    def __init__(self, n, size, seed):
        self.n, self.size, self.seed = n, size, seed
        ys, xs = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        self.ys, self.xs = ys.float(), xs.float()

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        g = torch.Generator().manual_seed(self.seed * 100_003 + index)
        mask = torch.zeros(self.size, self.size, dtype=torch.long)
        for _ in range(6):
            kind = int(torch.randint(1, len(CLASSES), (), generator=g))
            cy, cx, r, skew = torch.rand(4, generator=g).tolist()
            dy, dx = self.ys - cy * self.size, self.xs - cx * self.size
            inside = dy * dy * (1 + 6 * skew) + dx * dx < (0.04 + 0.12 * r) ** 2 * self.size**2
            mask[inside] = kind
        shade = mask.float() / len(CLASSES)
        tint = torch.stack([shade, 1 - shade, (shade * 3.7) % 1.0])
        return tint + 0.15 * torch.randn(3, self.size, self.size, generator=g), mask


class SmallUNet(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.down1 = self.block(3, width)
        self.down2 = self.block(width, 2 * width)
        self.mid = self.block(2 * width, 2 * width)
        self.up = self.block(3 * width, width)
        self.out = nn.Conv2d(width, len(CLASSES), 1)

    @staticmethod
    def block(cin, cout):
        return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))

    def forward(self, x):
        a = self.down1(x)
        b = self.mid(self.down2(F.max_pool2d(a, 2)))
        return self.out(self.up(torch.cat([a, F.interpolate(b, scale_factor=2.0)], dim=1)))


class SegmentationMetrics:
    """Confusion matrix over the whole set; rows are truth, columns predictions."""

    def __init__(self, n_classes):
        self.n_classes = n_classes
        self.confusion = torch.zeros(n_classes, n_classes, dtype=torch.long)

    def update(self, prediction, truth):
        for t in range(self.n_classes):
            for p in range(self.n_classes):
                self.confusion[t, p] += ((truth == t) & (prediction == p)).sum()

    def accuracy(self):
        return (self.confusion.diag().sum() / self.confusion.sum()).item()

    def iou(self):
        hit = self.confusion.diag().double()
        union = self.confusion.sum(0) + self.confusion.sum(1) - self.confusion.diag()
        return hit / union.clamp(min=1)


def calibrate(model, loader, steps):
    """A few steps from scratch stand in for the checkpoint of the training job."""
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    model.train()
    for step, (image, mask) in enumerate(loader):
        if step == steps:
            break
        loss = F.cross_entropy(model(image), mask)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    metrics = SegmentationMetrics(len(CLASSES))
    for image, mask in loader:
        prediction = model(image).argmax(1)
        metrics.update(prediction, mask)
    return metrics


def main():
    torch.manual_seed(0)
    size = 128
    model = SmallUNet()
    calibrate(model, DataLoader(SheetImages(40, size, seed=1), batch_size=8), steps=5)
    metrics = evaluate(model, DataLoader(SheetImages(192, size, seed=2), batch_size=16))
    iou = metrics.iou()
    best = int(iou[1:].argmax()) + 1
    print(f"pixels {int(metrics.confusion.sum())}  accuracy {metrics.accuracy():.4f}  mean IoU {iou.mean().item():.4f}")
    print(f"sheet IoU {iou[0].item():.4f}  best defect class {CLASSES[best]} {iou[best].item():.4f}")


if __name__ == "__main__":
    main()
