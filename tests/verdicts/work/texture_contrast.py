"""Self-supervised contrastive learning on textures: one persistent loader worker, linear probe at the end."""
import json
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
SIDE, KINDS, BATCH, EPOCHS = 32, 6, 64, 3


class Textures(Dataset):
    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        self.kind = torch.randint(0, KINDS, (n,), generator=gen)
        angle = self.kind.float()[:, None, None] * 0.52
        axis = torch.linspace(0, 6.28, SIDE)
        yy, xx = axis[:, None], axis[None]
        phase = torch.rand(n, 1, 1, generator=gen) * 6.28
        wave = torch.sin(4 * (xx * angle.cos() + yy * angle.sin()) + phase)
        self.image = (wave + 0.6 * torch.randn(n, SIDE, SIDE, generator=gen))[:, None]

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        return self.image[i], self.kind[i]


def two_views(x):
    def view(x):
        r, c = torch.randint(0, SIDE, (2,)).tolist()
        x = x.roll((r, c), (2, 3))
        gain = torch.rand(len(x), 1, 1, 1) * 0.6 + 0.7
        return x * gain + 0.2 * torch.randn_like(x)
    return torch.cat([view(x), view(x)])


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 24, 5, 2, 2), nn.BatchNorm2d(24), nn.ReLU(),
                                  nn.Conv2d(24, 48, 3, 1, 1), nn.BatchNorm2d(48), nn.ReLU(),
                                  nn.Conv2d(48, 64, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.proj = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x):
        return F.normalize(self.proj(self.body(x)), dim=1)


def nt_xent(z, heat=0.2):
    n = len(z) // 2
    sim = (z @ z.T / heat).masked_fill(torch.eye(2 * n, dtype=torch.bool), -1e9)
    goal = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, goal)


def probe(net, train, test):
    net.eval()
    with torch.inference_mode():
        a, b = net.body(train.image), net.body(test.image)
        a, b = (torch.cat([v, torch.ones(len(v), 1)], 1) for v in (a, b))
        w = torch.linalg.lstsq(a, F.one_hot(train.kind, KINDS).float()).solution
        return ((b @ w).argmax(1) == test.kind).float().mean().item()


def main():
    torch.manual_seed(26)
    train, test = Textures(1280, 1), Textures(200, 2)
    loader = DataLoader(train, BATCH, shuffle=True, drop_last=True, num_workers=1, persistent_workers=True, prefetch_factor=4)
    net = Encoder()
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    begin = time.perf_counter()
    for epoch in range(EPOCHS):
        losses = []
        for x, _ in loader:
            loss = nt_xent(net(two_views(x)))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            losses.append(loss.detach())
        print(f"epoch {epoch}  contrastive loss {torch.stack(losses).mean().item():.4f}")
    total = time.perf_counter() - begin
    print(f"linear probe accuracy {probe(net, train, test):.3f}")
    print("TRUTH", json.dumps({"share": 0, "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
