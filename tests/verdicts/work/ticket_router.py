"""Route support tickets to a team: hashed words and character n-grams, EmbeddingBag."""
import argparse
import json
import random
import re
import time
import zlib

import torch
from torch import nn
from torch.utils.data import DataLoader

torch.set_num_threads(1)
TEAMS = ["billing", "network", "hardware", "accounts", "mobile"]
TOPIC = {
    "billing": "invoice refund charge card payment statement overcharged".split(),
    "network": "router outage latency packet vpn signal dropped".split(),
    "hardware": "screen keyboard battery fan broken replacement charger".split(),
    "accounts": "password login locked reset username verify email".split(),
    "mobile": "roaming sim handset esim coverage texting plan".split(),
}
COMMON = ("please help with my the a since yesterday cannot again still support agent "
          "waiting customer number called today need urgent problem").split()
BUCKETS = 1 << 14
WORD = re.compile(r"[a-z]+|\d+")
encode_seconds = 0.0


def make_tickets(n, seed):
    rnd = random.Random(seed)
    out = []
    for _ in range(n):
        k = rnd.randrange(len(TEAMS))
        words = [rnd.choice(TOPIC[TEAMS[k]]) if rnd.random() < 0.12 else
                 rnd.choice(TOPIC[rnd.choice(TEAMS)]) if rnd.random() < 0.1 else
                 rnd.choice(COMMON) for _ in range(rnd.randint(20, 50))]
        out.append((" ".join(words).capitalize() + f". Ref {rnd.randrange(10**6)}", k))
    return out


def encode(text):
    ids = []
    for word in WORD.findall(text.lower()):
        ids.append(zlib.crc32(word.encode()) % BUCKETS)
        padded = f"<{word}>"
        for size in (3, 4):
            for at in range(len(padded) - size + 1):
                ids.append(zlib.crc32(padded[at:at + size].encode()) % BUCKETS)
    return ids


def collate(batch):
    global encode_seconds
    start = time.perf_counter()
    rows = [encode(t) if isinstance(t, str) else t for t, _ in batch]
    encode_seconds += time.perf_counter() - start
    lengths = torch.tensor([0] + [len(r) for r in rows[:-1]])
    flat = torch.tensor([i for r in rows for i in r])
    return flat, lengths.cumsum(0), torch.tensor([k for _, k in batch])


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(BUCKETS, 32, mode="mean", sparse=True)
        self.head = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, len(TEAMS)))

    def forward(self, flat, offsets):
        return self.head(self.bag(flat, offsets))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--epochs", type=int, default=8)
    args = ap.parse_args()
    torch.manual_seed(1)
    train, test = make_tickets(2500, 1), make_tickets(400, 2)
    if args.repaired:
        train = [(encode(t), k) for t, k in train]
    loader = DataLoader(train, batch_size=64, shuffle=True, collate_fn=collate)
    held = DataLoader(test, batch_size=200, collate_fn=collate)
    net = Router()
    opts = [torch.optim.SparseAdam(net.bag.parameters(), lr=5e-3),
            torch.optim.Adam(net.head.parameters(), lr=5e-3)]
    begin = time.perf_counter()
    for epoch in range(args.epochs):
        loss_sum = 0.0
        for flat, offsets, y in loader:
            loss = nn.functional.cross_entropy(net(flat, offsets), y)
            for o in opts:
                o.zero_grad()
            loss.backward()
            for o in opts:
                o.step()
            loss_sum += loss.item()
        print(f"epoch {epoch}  loss {loss_sum / len(loader):.4f}")
    total, spent = time.perf_counter() - begin, encode_seconds
    with torch.no_grad():
        hits = sum((net(f, o).argmax(1) == y).sum().item() for f, o, y in held)
    print(f"held-out accuracy {hits / len(test):.3f}")
    print("TRUTH", json.dumps({"share": round(spent / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
