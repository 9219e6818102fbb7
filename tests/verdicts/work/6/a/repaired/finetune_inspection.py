"""Adapts the general inspection network to a new product with few examples:
the pretrained backbone stays as it is, a head is trained on augmented crops.
Compares against the nearest-centroid baseline on the held-out crops."""
import torch
import torch.nn.functional as F
from torch import nn

CLASSES, SIZE = 8, 48
PRETRAIN_STEPS, EPOCHS, BATCH = 16, 9, 32


def crops(n, classes, seed):
    """Crops of parts: oriented textures with a class-dependent period and blob."""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (n,), generator=g)
    grid = torch.linspace(-1, 1, SIZE)
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    angle = y.float() * torch.pi / classes + 0.1 * torch.randn(n, generator=g)
    freq = 6 + 3.0 * (y % 3).float()
    phase = torch.rand(n, generator=g) * 6.28
    wave = torch.sin(freq[:, None, None] * (xx * angle.cos()[:, None, None] + yy * angle.sin()[:, None, None])
                     + phase[:, None, None])
    cx = torch.rand(n, 2, 1, 1, generator=g) - 0.5
    blob = torch.exp(-((xx - cx[:, 0]) ** 2 + (yy - cx[:, 1]) ** 2) / (0.05 + 0.02 * (y % 2).float())[:, None, None])
    x = torch.stack([wave, blob, wave * blob], 1) + 1.5 * torch.randn(n, 3, SIZE, SIZE, generator=g)
    return x, y


class Residual(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(),
                               nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o))
        self.skip = nn.Conv2d(i, o, 1, stride, bias=False)

    def forward(self, x):
        return F.relu(self.a(x) + self.skip(x))


class Backbone(nn.Module):
    def __init__(self, w=16):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, w, 5, 2, 2, bias=False), nn.BatchNorm2d(w), nn.ReLU())
        self.stages = nn.Sequential(Residual(w, w, 1), Residual(w, 2 * w, 2), Residual(2 * w, 4 * w, 2))
        self.dim = 4 * w

    def forward(self, x):
        return self.stages(self.stem(x)).mean((2, 3))


class Head(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.a, self.b = nn.Linear(dim, 64), nn.Linear(64, classes)

    def forward(self, f):
        return self.b(F.gelu(self.a(self.norm(f))))


class Inspector(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone.requires_grad_(False)
        self.head = Head(backbone.dim, classes)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()      # the statistics of the norms stay those of the pretraining
        return self

    def forward(self, x):
        return self.head(self.backbone(x))


def pretrain(seed):
    torch.manual_seed(seed)
    net = nn.Sequential(Backbone(), nn.Linear(64, 12))
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    x, y = crops(PRETRAIN_STEPS * 64, 12, seed)
    for bx, by in zip(x.split(64), y.split(64)):
        loss = F.cross_entropy(net(bx), by)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return net[0]


def augment(x, gen):
    """Shifts by up to four pixels, mirrored borders, and noise of the sensor."""
    padded = F.pad(x, (4, 4, 4, 4), mode="reflect")
    dx, dy = torch.randint(0, 9, (2,), generator=gen).tolist()
    x = padded[:, :, dy:dy + SIZE, dx:dx + SIZE]
    return x + 0.1 * torch.randn(x.shape, generator=gen)


@torch.inference_mode()
def centroid_accuracy(backbone, train, test):
    backbone.eval()
    f, t = F.normalize(backbone(train[0])), F.normalize(backbone(test[0]))
    centroids = torch.stack([f[train[1] == c].mean(0) for c in range(CLASSES)])
    return float(((t @ F.normalize(centroids).T).argmax(1) == test[1]).float().mean())


@torch.inference_mode()
def accuracy(model, x, y):
    model.eval()
    right = sum(int((model(bx).argmax(1) == by).sum()) for bx, by in zip(x.split(128), y.split(128)))
    return right / len(y)


def finetune(model, x, y, seed):
    gen = torch.Generator().manual_seed(seed)
    opt = torch.optim.AdamW(model.head.parameters(), lr=3e-3)
    steps = EPOCHS * (len(x) // BATCH)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    for epoch in range(EPOCHS):
        model.train()
        total = torch.zeros(())
        order = torch.randperm(len(x), generator=gen)
        for ids in order.split(BATCH):
            if len(ids) < BATCH:
                continue
            logits = model(augment(x[ids], gen))
            loss = F.cross_entropy(logits, y[ids], label_smoothing=0.05)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total += loss.detach()
        print(f"epoch {epoch} loss {float(total) / (len(x) // BATCH):.3f}", flush=True)


def main():
    backbone = pretrain(3)
    train, test = crops(480, CLASSES, 40), crops(320, CLASSES, 41)
    print(f"baseline {centroid_accuracy(backbone, train, test):.3f}")
    torch.manual_seed(8)
    model = Inspector(backbone, CLASSES)
    finetune(model, *train, seed=6)
    print(f"accuracy {accuracy(model, *test):.3f}")


if __name__ == "__main__":
    main()
