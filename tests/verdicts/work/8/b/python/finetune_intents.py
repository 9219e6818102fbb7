"""Fine-tunes a small encoder with low-rank adapters to classify the intents of
short support requests; the base weights stay frozen."""
import math
import random

import torch
from torch import nn
from torch.nn import functional as F

SEED = 11
VOCAB = 600
INTENTS = 12
LENGTH = 20
STEPS = 200
BATCH = 7
WIDTH = 64
LAYERS = 4

torch.autograd.set_detect_anomaly(True)


class LoraLinear(nn.Module):
    """A frozen linear layer with a trained low-rank correction."""

    def __init__(self, inner, rank=8, alpha=16.0):
        super().__init__()
        self.inner = inner
        for p in self.inner.parameters():
            p.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, inner.in_features) / math.sqrt(inner.in_features))
        self.up = nn.Parameter(torch.zeros(inner.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.inner(x) + F.linear(F.linear(x, self.down), self.up) * self.scale


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x, keep):
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None, None, :])
        x = x + self.out(a.transpose(1, 2).reshape(b, t, w))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x))))


class IntentModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCAB, WIDTH)
        self.place = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        self.blocks = nn.ModuleList(Block(WIDTH, 4) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, INTENTS)

    def forward(self, ids):
        keep = ids != 0
        x = self.token(ids) + self.place[: ids.shape[1]]
        for block in self.blocks:
            x = block(x, keep)
        x = self.norm(x) * keep.unsqueeze(-1)
        return self.head(x.sum(1) / keep.sum(1, keepdim=True))


def add_adapters(model):
    for p in model.parameters():
        p.requires_grad_(False)
    for block in model.blocks:
        for name in ("qkv", "out", "wide", "narrow"):
            setattr(block, name, LoraLinear(getattr(block, name)))
    for p in model.head.parameters():
        p.requires_grad_(True)
    return [p for p in model.parameters() if p.requires_grad]


def make_requests(count, rng):
    """Every intent has a set of telling words; the rest of a request is filler."""
    telling = {i: list(range(1 + 12 * i, 1 + 12 * i + 18)) for i in range(INTENTS)}
    ids = torch.zeros(count, LENGTH, dtype=torch.long)
    labels = torch.zeros(count, dtype=torch.long)
    for row in range(count):
        intent = rng.randrange(INTENTS)
        n = rng.randint(8, LENGTH)
        words = [rng.choice(telling[intent]) if rng.random() < 0.35 else rng.randrange(1, VOCAB) for _ in range(n)]
        ids[row, :n] = torch.tensor(words)
        labels[row] = intent
    return ids, labels


def accuracy(model, ids, labels):
    model.eval()
    with torch.no_grad():
        right = sum(
            int((model(i).argmax(1) == y).sum()) for i, y in zip(ids.split(200), labels.split(200))
        )
    model.train()
    return right / labels.numel()


def main():
    rng = random.Random(SEED)
    torch.manual_seed(SEED)
    train_ids, train_labels = make_requests(4000, rng)
    test_ids, test_labels = make_requests(800, rng)
    model = IntentModel()
    params = add_adapters(model)
    optimizer = torch.optim.AdamW(params, lr=8e-3, weight_decay=0.01)
    warmup = 20
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min((s + 1) / warmup, (STEPS - s) / (STEPS - warmup))
    )
    running = 0.0
    for step in range(STEPS):
        pick = torch.randint(train_ids.shape[0], (BATCH,))
        loss = F.cross_entropy(model(train_ids[pick]), train_labels[pick], label_smoothing=0.05)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if (step + 1) % 100 == 0:
            print(f"step {step + 1} loss {running / 100:.3f}")
            running = 0.0
    trained = sum(p.numel() for p in params)
    print(f"trained parameters {trained} accuracy {accuracy(model, test_ids, test_labels):.3f}")


if __name__ == "__main__":
    main()
