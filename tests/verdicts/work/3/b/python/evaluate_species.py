"""Evaluate a plant-species classifier: accuracy, macro F1, confusions."""
import numpy as np
import torch
from torch import nn

CLASSES = 120
FEATURES = 64


class SpeciesNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(FEATURES, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.head = nn.Linear(256, CLASSES)

    def forward(self, x):
        return self.head(self.trunk(x))


class ConfusionMeter:
    def __init__(self, classes):
        self.classes = classes
        self.counts = torch.zeros(classes, classes, dtype=torch.int64)

    def update(self, logits, target):
        pred = logits.argmax(dim=1)
        for t, p in zip(target, pred):
            self.counts[t, p] += 1

    def accuracy(self):
        return (self.counts.diagonal().sum() / self.counts.sum()).item()

    def macro_f1(self):
        tp = self.counts.diagonal().double()
        precision = tp / self.counts.sum(dim=0).clamp(min=1)
        recall = tp / self.counts.sum(dim=1).clamp(min=1)
        return (2 * precision * recall / (precision + recall).clamp(min=1e-9)).mean().item()

    def worst_pairs(self, n):
        off = self.counts.clone()
        off.fill_diagonal_(0)
        values, where = off.flatten().topk(n)
        return [(int(w) // self.classes, int(w) % self.classes, int(v)) for v, w in zip(values, where)]


def load_split(seed, size):
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(0, 1, (CLASSES, FEATURES)).astype(np.float32)
    labels = rng.integers(0, CLASSES, size)
    x = centres[labels] + rng.normal(0, 1.6, (size, FEATURES)).astype(np.float32)
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(labels)


def fit(model, x, y, epochs=3, batch=512):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    g = torch.Generator().manual_seed(2)
    for _ in range(epochs):
        for idx in torch.randperm(len(x), generator=g).split(batch):
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
    return loss.item()


@torch.inference_mode()
def evaluate(model, x, y, meter, batch=4096):
    model.eval()
    for xb, yb in zip(x.split(batch), y.split(batch)):
        meter.update(model(xb), yb)
    return meter


def main():
    torch.manual_seed(7)
    x, y = load_split(1, 20_000)
    model = SpeciesNet()
    loss = fit(model, x, y)
    print(f"train loss {loss:.3f}")
    for name, seed, size in (("valid", 2, 300_000), ("field", 3, 100_000)):
        xs, ys = load_split(seed, size)
        meter = evaluate(model, xs, ys, ConfusionMeter(CLASSES))
        print(f"{name} accuracy {meter.accuracy():.4f} f1 {meter.macro_f1():.4f} worst {meter.worst_pairs(2)}")


if __name__ == "__main__":
    main()
