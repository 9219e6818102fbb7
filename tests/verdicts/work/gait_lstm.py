"""Recognise walking styles from accelerometer windows: two-layer LSTM with plateau schedule."""
import json
import math
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
LENGTH, AXES, STYLES, EPOCHS = 64, 6, 5, 4


def make_walks(n, seed):
    gen = torch.Generator().manual_seed(seed)
    y = torch.randint(0, STYLES, (n,), generator=gen)
    pace = 0.9 + 0.25 * y.float() + 0.05 * torch.randn(n, generator=gen)
    phase = torch.rand(n, 1, generator=gen) * 2 * math.pi
    t = torch.arange(LENGTH) / 8
    swing = pace[:, None] * t * 2 + phase
    waves = torch.stack([torch.sin(swing * k + k) / k for k in range(1, AXES + 1)], 2)
    limp = (y == 3).float()[:, None, None] * torch.relu(torch.sin(swing))[:, :, None] * 0.5
    return waves + limp + 0.4 * torch.randn(waves.shape, generator=gen), y


class GaitNet(nn.Module):
    def __init__(self, hidden=80):
        super().__init__()
        self.rnn = nn.LSTM(AXES, hidden, num_layers=2, batch_first=True, dropout=0.1)
        self.head = nn.Sequential(nn.LayerNorm(2 * hidden), nn.Linear(2 * hidden, STYLES))

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(torch.cat([out.mean(1), out.amax(1)], 1))


@torch.inference_mode()
def evaluate(net, loader):
    net.eval()
    loss = hits = n = 0
    for x, y in loader:
        out = net(x)
        loss += nn.functional.cross_entropy(out, y, reduction="sum")
        hits += (out.argmax(1) == y).sum()
        n += len(y)
    net.train()
    return loss.item() / n, hits.item() / n


def main():
    torch.manual_seed(24)
    train = DataLoader(TensorDataset(*make_walks(1536, 1)), batch_size=64, shuffle=True, drop_last=True)
    valid = DataLoader(TensorDataset(*make_walks(300, 2)), batch_size=150)
    net = GaitNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.3, patience=1)
    begin = time.perf_counter()
    for epoch in range(EPOCHS):
        loss_sum = torch.zeros(())
        for x, y in train:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 2.0)
            opt.step()
            loss_sum += loss.detach()
        val_loss, acc = evaluate(net, valid)
        sched.step(val_loss)
        print(f"epoch {epoch}  loss {loss_sum.item() / len(train):.4f}  val loss {val_loss:.4f}  acc {acc:.3f}  "
              f"lr {opt.param_groups[0]['lr']:.1e}")
    total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": 0, "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
