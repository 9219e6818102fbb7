"""Names moths by their wings, with blocks in the manner of ConvNeXt.

Planted: each norm copies its maps to channels last and back, forward and backward.
Truth: time of these copies, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

BATCH, EDGE, WIDTH, MOTHS = 8, 48, 32, 40
watch = Stopwatch()


class Moved(torch.autograd.Function):
    """A copy with the axes in another order."""

    @staticmethod
    def forward(ctx, maps, *axes):
        ctx.back = [axes.index(axis) for axis in range(4)]
        with watch.planted():
            return maps.permute(axes).contiguous()

    @staticmethod
    def backward(ctx, gradient):
        with watch.planted():
            return gradient.permute(ctx.back).contiguous(), None, None, None, None


class ChannelNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, maps):
        return Moved.apply(self.norm(Moved.apply(maps, 0, 2, 3, 1)), 0, 3, 1, 2)


class Block(nn.Module):
    def __init__(self, width, edge):
        super().__init__()
        self.before, self.after = ChannelNorm(width), ChannelNorm(width)
        self.mix = nn.Conv2d(width, width, edge, padding=edge // 2)
        self.squash = nn.ReLU(inplace=True)

    def forward(self, maps):
        return maps + self.after(self.squash(self.mix(self.before(maps))))


class Namer(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, WIDTH, 4, stride=2, padding=1)
        self.blocks = nn.Sequential(*(Block(WIDTH, edge) for edge in (3, 1, 1, 1)))
        self.head = nn.Linear(WIDTH, MOTHS)

    def forward(self, wings):
        return self.head(self.blocks(self.stem(wings)).mean((2, 3)))


def train_step(model, optimizer, wings, moths):
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(model(wings), moths, label_smoothing=0.1)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(11)
    model = Namer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.05)
    collection = torch.rand(320, 3, 2 * EDGE, 2 * EDGE)
    names = torch.randint(0, MOTHS, (320,))
    total, steps = torch.zeros(()), 0
    with watch.loop():
        while watch.seconds() < 7:
            at = steps * BATCH % len(collection)
            total += train_step(model, optimizer, collection[at:at + BATCH], names[at:at + BATCH])
            steps += 1
            watch.step()
    print(f"mean loss {total.item() / steps:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
