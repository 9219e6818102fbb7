"""Convolutional classifier for seven-segment meter readings."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SIZE = 28
SEGMENTS = {0: "abcdef", 1: "bc", 2: "abged", 3: "abgcd", 4: "fgbc",
            5: "afgcd", 6: "afgedc", 7: "abc", 8: "abcdefg", 9: "abcdfg"}
BOXES = {"a": (4, 6, 8, 20), "b": (5, 14, 18, 20), "c": (14, 23, 18, 20), "d": (22, 24, 8, 20),
         "e": (14, 23, 8, 10), "f": (5, 14, 8, 10), "g": (13, 15, 8, 20)}


def templates():
    glyphs = torch.zeros(10, SIZE, SIZE)
    for digit, segments in SEGMENTS.items():
        for s in segments:
            top, bottom, left, right = BOXES[s]
            glyphs[digit, top:bottom, left:right] = 1.0
    return glyphs


def readings(count, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 10, (count,), generator=g)
    images = templates()[labels]
    shift = torch.randint(-3, 4, (count, 2), generator=g)
    rows = (torch.arange(SIZE) - shift[:, :1]) % SIZE
    cols = (torch.arange(SIZE) - shift[:, 1:]) % SIZE
    images = images[torch.arange(count).view(-1, 1, 1), rows.unsqueeze(2), cols.unsqueeze(1)]
    light = 0.4 + 0.6 * torch.rand(count, 1, 1, generator=g)
    images = images * light + 0.35 * torch.randn(images.shape, generator=g)
    return TensorDataset(images.unsqueeze(1), labels)


class MeterNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU())
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(32 * 7 * 7, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x):
        return self.head(self.features(x))


def train_epoch(model, loader, optimizer, schedule):
    model.train()
    total = torch.zeros(())
    seen = 0
    for images, labels in loader:
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.detach() * len(labels)
        seen += len(labels)
    return total.item() / seen


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    right, seen = 0, 0
    confusion = torch.zeros(100, dtype=torch.long)
    for images, labels in loader:
        guess = model(images).argmax(1)
        right += int((guess == labels).sum())
        seen += len(labels)
        confusion += torch.bincount(labels * 10 + guess, minlength=100)
    return right / seen, confusion.view(10, 10)


def worst_pair(confusion):
    off = confusion.clone().fill_diagonal_(0)
    at = int(off.argmax())
    return at // 10, at % 10, int(off.max())


def main():
    torch.manual_seed(51)
    train, held = readings(4000, seed=52), readings(1500, seed=53)
    shuffle = torch.Generator().manual_seed(54)
    train_loader = DataLoader(train, batch_size=128, shuffle=True, generator=shuffle)
    held_loader = DataLoader(held, batch_size=500)
    model = MeterNet()
    epochs = 3
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=epochs * len(train_loader))
    for epoch in range(epochs):
        loss = train_epoch(model, train_loader, optimizer, schedule)
        score, confusion = evaluate(model, held_loader)
        print(f"epoch {epoch} loss {loss:.4f} accuracy {score:.4f}")
    truth, guess, times = worst_pair(confusion)
    print(f"most confused {truth} read as {guess}, {times} times")


if __name__ == "__main__":
    main()
