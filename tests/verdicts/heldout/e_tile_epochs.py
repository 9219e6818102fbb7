"""Learns to see flooded fields in 96 satellite tiles: an epoch is six batches.

Planted: two workers are started and ended anew for each of these short epochs, as a DataLoader does by default.
Truth: time that the loop waits for the loader, its start and its end included, of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class FloodTiles(Dataset):
    def __init__(self, count=96, size=32):
        generator = torch.Generator().manual_seed(3)
        self.tiles = torch.rand(count, 4, size, size, generator=generator)
        self.masks = (nn.functional.avg_pool2d(self.tiles[:, :1], 5, 1, 2) > 0.5).float()

    def __len__(self):
        return len(self.tiles)

    def __getitem__(self, index):
        turns = int(torch.randint(4, ()))
        return torch.rot90(self.tiles[index], turns, (1, 2)), torch.rot90(self.masks[index], turns, (1, 2))


def block(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())


def main():
    torch.manual_seed(0)
    watch = Stopwatch()
    model = nn.Sequential(block(4, 24), block(24, 32), block(32, 24), nn.Conv2d(24, 1, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    loss_of = nn.BCEWithLogitsLoss()
    loader = DataLoader(FloodTiles(), batch_size=16, shuffle=True, num_workers=2)
    epoch, loss = 0, torch.zeros(())
    with watch.loop():
        while watch.seconds() < 6.5:
            model.train()
            for tiles, masks in watch.batches(loader):
                loss = loss_of(model(tiles), masks)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
            epoch += 1
    print(f"epoch {epoch}: {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
