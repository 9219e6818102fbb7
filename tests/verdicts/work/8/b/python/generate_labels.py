"""Generates product titles with a small decoder. The decoder is first fitted to a
synthetic catalogue, then titles are sampled in batches with a cache of keys and
values, and checked against the grammar of the catalogue."""
import random
import time
import sys

import torch
from torch import nn
from torch.nn import functional as F

SEED = 21
PAD, START, END = 0, 1, 2
LENGTH = 96
WIDTH, HEADS, LAYERS = 128, 4, 3
TRAIN_STEPS = 45
BATCHES, BATCH = 22, 32

BRANDS = ["Alto", "Borealis", "Corvo", "Delmar", "Estrel", "Fjord"]
KINDS = ["lamp", "chair", "desk", "shelf", "rug", "mirror"]
MATERIALS = ["oak", "steel", "linen", "glass", "cork"]
COLOURS = ["black", "white", "sand", "olive", "navy", "rust"]

CHARS = sorted(set("".join(BRANDS + KINDS + MATERIALS + COLOURS) + " ,0123456789xcm"))
TO_ID = {c: i + 3 for i, c in enumerate(CHARS)}
VOCAB = len(CHARS) + 3


def title(rng):
    colours = ", ".join(rng.sample(COLOURS, rng.randint(1, 4)))
    return (f"{rng.choice(BRANDS)} {rng.choice(MATERIALS)} {rng.choice(KINDS)} "
            f"{rng.randint(2, 19) * 10}x{rng.randint(2, 19) * 10}cm {colours}")


def encode(text):
    ids = [START] + [TO_ID[c] for c in text] + [END]
    return ids + [PAD] * (LENGTH - len(ids))


def decode(ids):
    return "".join(CHARS[i - 3] for i in ids if i > END)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, cache=None, at=0):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        if cache is None:
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            cache[0][:, :, at : at + t] = k
            cache[1][:, :, at : at + t] = v
            a = F.scaled_dot_product_attention(q, cache[0][:, :, : at + t], cache[1][:, :, : at + t])
        x = x + self.out(a.transpose(1, 2).reshape(b, t, WIDTH))
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCAB, WIDTH)
        self.place = nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids, caches=None, at=0):
        x = self.token(ids) + self.place(torch.arange(at, at + ids.shape[1]))
        for i, layer in enumerate(self.layers):
            x = layer(x, caches[i] if caches is not None else None, at)
        return self.head(self.norm(x))

    def new_caches(self, batch):
        shape = (batch, HEADS, LENGTH, WIDTH // HEADS)
        return [(torch.empty(shape), torch.empty(shape)) for _ in self.layers]


def fit(model, rng):
    data = torch.tensor([encode(title(rng)) for _ in range(2000)])
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for step in range(TRAIN_STEPS):
        batch = data[torch.randint(len(data), (24,))]
        longest = int((batch != PAD).sum(1).max())
        batch = batch[:, :longest]
        logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, VOCAB), batch[:, 1:].reshape(-1), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.inference_mode()
def sample(model, batch, gen, temperature=0.7):
    caches = model.new_caches(batch)
    ids = torch.full((batch, LENGTH), PAD)
    ids[:, 0] = START
    done = torch.zeros(batch, dtype=torch.bool)
    for at in range(LENGTH - 1):
        logits = model(ids[:, at : at + 1], caches, at)[:, 0]
        nxt = torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=gen).squeeze(1)
        ids[:, at + 1] = torch.where(done, torch.full_like(nxt, PAD), nxt)
        done |= nxt == END
        if at % 8 == 7 and bool(done.all()):
            break
    return ids


def main():
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    model = Decoder()
    loss = fit(model, rng)
    model.eval()
    gen = torch.Generator().manual_seed(SEED)
    started = time.perf_counter()
    titles = [decode(row) for _ in range(BATCHES) for row in sample(model, BATCH, gen).tolist()]
    words = [w.strip(",") for t in titles for w in t.split()]
    known = set(BRANDS + KINDS + MATERIALS + COLOURS)
    valid = sum(w in known for w in words)
    print(f"loss {loss:.3f} titles {len(titles)} characters {sum(map(len, titles))} known words {valid / len(words):.3f}")
    print(f"sampled in {time.perf_counter() - started:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
