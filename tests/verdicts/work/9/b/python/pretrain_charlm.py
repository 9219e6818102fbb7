"""Pretrains a small decoder-only character model on generated shipping notes
and prints the validation perplexity together with a sampled note."""
import math
import random

import torch
from torch import nn
from torch.nn import functional as F

CONTEXT = 64
DIM = 64
HEADS = 4
LAYERS = 2
BATCH = 16
STEPS = 300


def make_text(notes, rng):
    ports = ["rotterdam", "santos", "busan", "durban", "gdansk", "oakland", "valencia", "mombasa"]
    goods = ["coffee", "steel coils", "timber", "textiles", "machine parts", "citrus", "paper", "solar panels"]
    lines = []
    for _ in range(notes):
        a, b = rng.sample(ports, 2)
        lines.append(
            f"{rng.randrange(1, 90)} containers of {rng.choice(goods)} from {a} to {b}, "
            f"due day {rng.randrange(1, 366)}, {'on time' if rng.random() < 0.7 else 'delayed by weather'}."
        )
    return "\n".join(lines)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.out = nn.Linear(DIM, DIM)

    def forward(self, x, cache=None):
        b, t, _ = x.shape
        q, k, v = (
            part.view(b, t, HEADS, DIM // HEADS).transpose(1, 2) for part in self.qkv(x).chunk(3, -1)
        )
        if cache is not None:
            k, v = cache.extend(k, v)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1)
        return self.out(y.transpose(1, 2).reshape(b, t, DIM))


class LayerCache:
    """Keys and values of the tokens seen so far, in storage of fixed size."""

    def __init__(self):
        self.k = torch.empty(1, HEADS, CONTEXT, DIM // HEADS)
        self.v = torch.empty_like(self.k)
        self.used = 0

    def extend(self, k, v):
        end = self.used + k.shape[2]
        self.k[:, :, self.used : end] = k
        self.v[:, :, self.used : end] = v
        self.used = end
        return self.k[:, :, :end], self.v[:, :, :end]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.mlp(self.norm2(x))


class CharModel(nn.Module):
    def __init__(self, symbols):
        super().__init__()
        self.token = nn.Embedding(symbols, DIM)
        self.position = nn.Embedding(CONTEXT, DIM)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, symbols, bias=False)
        self.head.weight = self.token.weight
        nn.init.normal_(self.token.weight, std=0.05)
        nn.init.normal_(self.position.weight, std=0.02)

    def forward(self, ids, start=0, caches=None):
        x = self.token(ids) + self.position.weight[start : start + ids.shape[1]]
        for i, layer in enumerate(self.layers):
            x = layer(x, caches[i] if caches else None)
        return self.head(self.norm(x))


def batches(data, count, generator):
    starts = torch.randint(len(data) - CONTEXT - 1, (count, BATCH), generator=generator)
    window = torch.arange(CONTEXT + 1)
    for row in starts:
        chunk = data[row.unsqueeze(1) + window]
        yield chunk[:, :-1], chunk[:, 1:]


@torch.inference_mode()
def perplexity(model, data):
    usable = (len(data) - 1) // CONTEXT * CONTEXT
    x = data[:usable].view(-1, CONTEXT)
    y = data[1 : usable + 1].view(-1, CONTEXT)
    loss = sum(
        F.cross_entropy(model(a).flatten(0, 1), b.flatten(), reduction="sum") for a, b in zip(x.split(32), y.split(32))
    )
    return math.exp(float(loss) / usable)


@torch.inference_mode()
def sample(model, prompt, length):
    caches = [LayerCache() for _ in range(LAYERS)]
    ids = prompt.tolist()
    logits = model(prompt.unsqueeze(0), 0, caches)[0, -1]
    while len(ids) < length:
        ids.append(int(logits.argmax()))
        logits = model(torch.tensor([ids[-1:]]), len(ids) - 1, caches)[0, -1]
    return ids


def main():
    torch.manual_seed(1234)
    text = make_text(3000, random.Random(6))
    symbols = sorted(set(text))
    index = {c: i for i, c in enumerate(symbols)}
    data = torch.tensor([index[c] for c in text])
    train, valid = data[:-8000], data[-8000:]

    model = CharModel(len(symbols))
    decay = [p for p in model.parameters() if p.dim() > 1]
    other = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.1}, {"params": other, "weight_decay": 0.0}], lr=3e-3, betas=(0.9, 0.95)
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=STEPS, pct_start=0.15)
    history = torch.zeros(STEPS)
    for step, (x, y) in enumerate(batches(train, STEPS, torch.Generator().manual_seed(2))):
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        history[step] = loss.detach()

    model.eval()
    print(f"loss first {history[:10].mean():.2f} last {history[-10:].mean():.2f}")
    print(f"validation perplexity {perplexity(model, valid):.1f}")
    prompt = torch.tensor([index[c] for c in "12 containers of "])
    written = sample(model, prompt, CONTEXT)
    print(len(written), "characters, e.g.", repr("".join(symbols[i] for i in written[:30])))


if __name__ == "__main__":
    main()
