"""Cell segmentation with a small U-Net: dice plus cross-entropy, cosine schedule, one checkpoint an epoch."""
import json
import os
import tempfile
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
SIDE, BATCH, EPOCHS = 48, 8, 3


def make_cells(n, seed):
    gen = torch.Generator().manual_seed(seed)
    axis = torch.arange(SIDE).float()
    mask = torch.zeros(n, SIDE, SIDE)
    for _ in range(5):
        c = torch.rand(n, 2, 1, 1, generator=gen) * SIDE
        r = torch.rand(n, 1, 1, generator=gen) * 4 + 3
        d2 = (axis[None, :, None] - c[:, 0]) ** 2 + (axis[None, None] - c[:, 1]) ** 2
        mask = torch.maximum(mask, (d2 < r ** 2).float())
    light = torch.rand(n, 1, 1, generator=gen) * 0.5
    image = 0.6 * mask + light + 0.35 * torch.randn(mask.shape, generator=gen)
    return image[:, None], mask[:, None]


def double(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(4, b), nn.ReLU(),
                         nn.Conv2d(b, b, 3, padding=1), nn.GroupNorm(4, b), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, w=12):
        super().__init__()
        self.d1, self.d2, self.mid = double(1, w), double(w, 2 * w), double(2 * w, 4 * w)
        self.u2, self.u1 = double(6 * w, 2 * w), double(3 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.out(a)


def dice(prob, mask):
    both = (prob * mask).sum((1, 2, 3))
    return ((2 * both + 1) / (prob.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + 1)).mean()


@torch.inference_mode()
def evaluate(net, x, y):
    net.eval()
    score = torch.stack([dice((net(a) > 0).float(), b) for a, b in zip(x.split(20), y.split(20))]).mean()
    net.train()
    return score.item()


def main():
    torch.manual_seed(22)
    x, y = make_cells(160, 1)
    xv, yv = make_cells(40, 2)
    net = UNet()
    opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        for epoch in range(EPOCHS):
            losses = []
            for rows in torch.randperm(len(x)).split(BATCH):
                logits = net(x[rows])
                loss = F.binary_cross_entropy_with_logits(logits, y[rows]) + 1 - dice(logits.sigmoid(), y[rows])
                opt.zero_grad(set_to_none=True)
                loss.backward()
                opt.step()
                losses.append(loss.item())
            sched.step()
            score = evaluate(net, xv, yv)
            torch.save({"epoch": epoch, "model": net.state_dict(), "dice": score}, os.path.join(folder, "last.pt"))
            print(f"epoch {epoch}  loss {sum(losses) / len(losses):.4f}  val dice {score:.3f}")
        total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": 0, "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
