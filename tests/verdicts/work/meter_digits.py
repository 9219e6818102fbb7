"""Read single digits of gas meters: CNN with batch norm, step schedule, evaluation each epoch."""
import json
import time

import torch
from torch import nn

torch.set_num_threads(1)
SIDE, BATCH, EPOCHS = 20, 64, 4
SEGMENTS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]
BOX = {"a": (2, 3, 6, 13), "b": (3, 9, 12, 13), "c": (10, 16, 12, 13), "d": (16, 17, 6, 13),
       "e": (10, 16, 6, 7), "f": (3, 9, 6, 7), "g": (9, 10, 6, 13)}


def glyphs():
    g = torch.zeros(10, SIDE, SIDE)
    for digit, names in enumerate(SEGMENTS):
        for s in names:
            r0, r1, c0, c1 = BOX[s]
            g[digit, r0:r1 + 1, c0:c1 + 1] = 1
    return g


def make_meters(n, seed):
    gen = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 10, (n,), generator=gen)
    x = glyphs()[y]
    shift = torch.randint(-2, 3, (n, 2), generator=gen)
    row = (torch.arange(SIDE)[None] - shift[:, :1]) % SIDE
    col = (torch.arange(SIDE)[None] - shift[:, 1:]) % SIDE
    x = x[torch.arange(n)[:, None, None], row[:, :, None], col[:, None, :]]
    glare = torch.rand(n, 1, 1, generator=gen) * torch.linspace(0, 1, SIDE)
    return (x + glare + 0.3 * torch.randn(x.shape, generator=gen))[:, None], y


class MeterNet(nn.Module):
    def __init__(self):
        super().__init__()
        def block(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b),
                                 nn.ReLU(inplace=True), nn.MaxPool2d(2))
        self.body = nn.Sequential(block(1, 32), block(32, 64))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(64 * 25, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))

    def forward(self, x):
        return self.head(self.body(x))


@torch.inference_mode()
def evaluate(net, x, y):
    net.eval()
    hits = sum((net(xb).argmax(1) == yb).sum() for xb, yb in zip(x.split(250), y.split(250)))
    net.train()
    return hits.item() / len(y)


def main():
    torch.manual_seed(20)
    x, y = make_meters(2304, 1)
    xv, yv = make_meters(500, 2)
    net = MeterNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, nesterov=True, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.StepLR(opt, 2, 0.2)
    begin = time.perf_counter()
    for epoch in range(EPOCHS):
        order = torch.randperm(len(x))
        loss_sum = torch.zeros(())
        for rows in order.split(BATCH):
            loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            loss_sum += loss.detach()
        sched.step()
        print(f"epoch {epoch}  loss {loss_sum.item() * BATCH / len(x):.4f}  val acc {evaluate(net, xv, yv):.3f}")
    total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": 0, "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
