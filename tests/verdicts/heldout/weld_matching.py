"""Finds flaws of weld seams on X-ray pictures with a detector of one stage.

Planted: the targets are matched flaw by flaw, with a dozen tensor operators on a few numbers for each of them.
Truth: time of matching, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

BATCH, GRID, EDGE = 16, 12, 96


def make_anchors():
    centres = (torch.arange(GRID) + 0.5) * EDGE / GRID
    y, x = torch.meshgrid(centres, centres, indexing="ij")
    return torch.stack([x - 6, y - 6, x + 6, y + 6], -1).reshape(-1, 4)


def make_picture(generator):
    picture = torch.randn(1, EDGE, EDGE, generator=generator) * 0.1
    flaws = []
    for _ in range(7):
        x, y = torch.randint(4, EDGE - 20, (2,), generator=generator).tolist()
        w, h = torch.randint(6, 16, (2,), generator=generator).tolist()
        picture[0, y:y + h, x:x + w] += 1
        flaws.append([x, y, x + w, y + h])
    return picture, torch.tensor(flaws, dtype=torch.float32)


def overlap(anchors, flaw):
    left, top = torch.max(anchors[:, 0], flaw[0]), torch.max(anchors[:, 1], flaw[1])
    right, bottom = torch.min(anchors[:, 2], flaw[2]), torch.min(anchors[:, 3], flaw[3])
    shared = (right - left).clamp(min=0) * (bottom - top).clamp(min=0)
    size = (anchors[:, 2] - anchors[:, 0]) * (anchors[:, 3] - anchors[:, 1])
    return shared / (size + (flaw[2] - flaw[0]) * (flaw[3] - flaw[1]) - shared)


def match(anchors, flaws):
    """1 where an anchor has a flaw, and the flaw's corners there. Each flaw gets its best anchor that is still free."""
    found = torch.zeros(len(anchors))
    corners = torch.zeros(len(anchors), 4)
    for flaw in flaws:
        score = overlap(anchors, flaw) - found
        best = score.argmax()
        found[best] = 1
        corners[best] = (flaw - anchors[best]) / 12
        for near in (score > 0.55).nonzero().flatten():
            found[near] = 1
            corners[near] = (flaw - anchors[near]) / 12
    return found, corners


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(64, 96, 3, padding=1), nn.ReLU())
        self.head = nn.Conv2d(96, 5, 1)

    def forward(self, pictures):
        return self.head(self.body(pictures)).flatten(2).transpose(1, 2)


def main():
    torch.manual_seed(4)
    watch = Stopwatch()
    generator = torch.Generator().manual_seed(9)
    seams = [make_picture(generator) for _ in range(256)]
    anchors, model = make_anchors(), Detector()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    number = 0
    with watch.loop():
        while watch.seconds() < 7:
            chosen = [seams[(number * BATCH + at) % len(seams)] for at in range(BATCH)]
            with watch.planted():
                found, corners = (torch.stack(part) for part in zip(*(match(anchors, flaws) for _, flaws in chosen)))
            said = model(torch.stack([picture for picture, _ in chosen]))
            loss = nn.functional.binary_cross_entropy_with_logits(said[..., 0], found)
            loss = loss + (nn.functional.smooth_l1_loss(said[..., 1:], corners, reduction="none").sum(-1) * found).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            number += 1
            watch.step()
    print(f"loss {loss.item():.4f} after {number} batches")
    watch.tell()


if __name__ == "__main__":
    main()
