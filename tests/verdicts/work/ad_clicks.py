"""Click-through model (factorisation machine plus MLP) that reports to a metrics collector."""
import argparse
import json
import socket
import threading
import time

import torch
from torch import nn

torch.set_num_threads(1)
FIELDS, SIZE, DIM = 10, 400, 16


def make_impressions(n, gen):
    x = torch.randint(0, SIZE, (n, FIELDS), generator=gen)
    w = torch.randn(FIELDS, SIZE, generator=gen) * 0.5
    score = w[torch.arange(FIELDS), x].sum(1) + ((x[:, 0] % 5) == (x[:, 1] % 5)).float() * 1.5 - 1.5
    return x, (torch.rand(n, generator=gen) < torch.sigmoid(score)).float()


class ClickModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("base", torch.arange(FIELDS) * SIZE)
        self.emb = nn.Embedding(FIELDS * SIZE, DIM)
        self.lin = nn.Embedding(FIELDS * SIZE, 1)
        nn.init.normal_(self.emb.weight, std=0.05)
        nn.init.zeros_(self.lin.weight)
        self.mlp = nn.Sequential(nn.Linear(FIELDS * DIM, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        ids = x + self.base
        e = self.emb(ids)
        pair = 0.5 * (e.sum(1) ** 2 - (e ** 2).sum(1)).sum(1)
        return self.lin(ids).sum((1, 2)) + pair + self.mlp(e.flatten(1)).squeeze(1)


def collector(sock):
    """The far end: answers each report after a network's delay."""
    while sock.recv(65536):
        time.sleep(0.025)
        sock.sendall(b"ok")


class Metrics:
    def __init__(self, sock, swap):
        self.sock, self.swap = sock, swap
        self.lock = threading.Lock()
        self.values = []
        self.stop = threading.Event()
        self.seconds = 0.0
        self.sent = 0
        self.thread = threading.Thread(target=self.pump, daemon=True)
        self.thread.start()

    def record(self, step, loss):
        start = time.perf_counter()
        with self.lock:
            self.values.append((step, loss))
        self.seconds += time.perf_counter() - start

    def pump(self):
        while not self.stop.wait(0.02):
            with self.lock:
                batch, self.values = self.values, []
                if not self.swap:
                    self.send(batch)
            if self.swap:
                self.send(batch)

    def send(self, batch):
        self.sock.sendall(json.dumps(batch).encode())
        self.sock.recv(16)
        self.sent += len(batch)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--steps", type=int, default=400)
    args = ap.parse_args()
    torch.manual_seed(17)
    gen = torch.Generator().manual_seed(18)
    x, y = make_impressions(60000, gen)
    here, there = socket.socketpair()
    threading.Thread(target=collector, args=(there,), daemon=True).start()
    metrics = Metrics(here, args.repaired)
    net = ClickModel()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    begin = time.perf_counter()
    for step in range(args.steps):
        pick = torch.randint(0, 50000, (256,))
        loss = nn.functional.binary_cross_entropy_with_logits(net(x[pick]), y[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
        metrics.record(step, loss.item())
        if step % 100 == 99:
            with torch.no_grad():
                held = nn.functional.binary_cross_entropy_with_logits(net(x[50000:]), y[50000:]).item()
            print(f"step {step + 1}  logloss {loss.item():.4f}  held-out {held:.4f}")
    total = time.perf_counter() - begin
    metrics.stop.set()
    metrics.thread.join()
    print(f"{metrics.sent} values reported")
    print("TRUTH", json.dumps({"share": round(metrics.seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
