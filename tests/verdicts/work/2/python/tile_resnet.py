"""Trains a compact residual network on synthetic land-cover tiles."""
import torch
from torch import nn
import torch.nn.functional as F

COVERS = 8
SIDE = 32


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.skip = nn.Identity() if inputs == outputs else nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        return F.relu(self.bn2(self.conv2(y)) + self.skip(x))


class TileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(4, 24, 3, padding=1)
        self.stages = nn.Sequential(Residual(24, 24, 1), Residual(24, 48, 2), Residual(48, 96, 2))
        self.head = nn.Linear(96, COVERS)

    def forward(self, x):
        return self.head(self.stages(self.stem(x)).mean((2, 3)))


def make_tiles(count, seed):
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(0, COVERS, (count,), generator=g)
    yy, xx = torch.meshgrid(torch.linspace(0, 6.28, SIDE), torch.linspace(0, 6.28, SIDE), indexing="ij")
    f = (label + 1)[:, None, None].float()
    bands = [torch.sin(f * xx), torch.cos(f * yy), torch.sin(f * (xx + yy)), torch.ones_like(xx) * f / COVERS]
    tiles = torch.stack(bands, 1)
    return tiles + 0.5 * torch.randn(tiles.shape, generator=g), label


@torch.no_grad()
def evaluate(model, tiles, labels):
    model.eval()
    right = sum((model(t).argmax(1) == l).sum().item() for t, l in zip(tiles.split(128), labels.split(128)))
    return right / len(labels)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    tiles, labels = make_tiles(640, 1)
    check_tiles, check_labels = make_tiles(256, 2)
    model = TileNet().to(memory_format=torch.channels_last)
    tiles = tiles.contiguous(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=2 * 10)
    for epoch in range(2):
        model.train()
        total = torch.zeros(())
        for rows in torch.randperm(len(tiles)).split(64):
            loss = F.cross_entropy(model(tiles[rows]), labels[rows])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.detach() * len(rows)
        print(f"epoch {epoch} loss {total.item() / len(tiles):.3f} check {evaluate(model, check_tiles, check_labels):.2f}")


if __name__ == "__main__":
    main()
