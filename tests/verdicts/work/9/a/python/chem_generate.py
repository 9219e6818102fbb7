"""Trains a small causal transformer on molecule-like strings and samples a library."""
import math
import random

import torch
import torch.nn.functional as F
from torch import nn

ALPHABET = "^$CNOSFcno()=#123[]+-H"
STOI = {c: i for i, c in enumerate(ALPHABET)}
CONTEXT = 160


def make_molecule(rng):
    """Random walk through fragments; yields strings with balanced brackets."""
    out = []
    for _ in range(rng.randint(4, 14)):
        kind = rng.random()
        if kind < 0.4:
            out.append("".join(rng.choice("CCCNOS") for _ in range(rng.randint(1, 4))))
        elif kind < 0.6:
            out.append("c1cc" + rng.choice("cno") + "cc1")
        elif kind < 0.8:
            out.append("(" + rng.choice(["=O", "C", "CC", "F", "C#N"]) + ")")
        else:
            out.append(rng.choice(["[N+]", "[O-]", "C=C", "[NH2+]".replace("2", "")]))
    return "C" + "".join(out)


def encode(text):
    return [STOI[c] for c in text]


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, past=None):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.heads, d // self.heads).transpose(1, 2)
                   for z in self.qkv(x).chunk(3, dim=-1))
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        return self.out(y.transpose(1, 2).reshape(b, t, d)), (k, v)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.n2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 3 * dim), nn.GELU(), nn.Linear(3 * dim, dim))

    def forward(self, x, past=None):
        y, kv = self.attn(self.n1(x), past)
        x = x + y
        return x + self.mlp(self.n2(x)), kv


class MoleculeModel(nn.Module):
    def __init__(self, dim=128, heads=4, depth=3):
        super().__init__()
        self.token = nn.Embedding(len(ALPHABET), dim)
        self.position = nn.Embedding(CONTEXT, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, len(ALPHABET))

    def forward(self, ids, cache=None):
        start = 0 if cache is None else cache[0][0].shape[2]
        pos = torch.arange(start, start + ids.shape[1])
        x = self.token(ids) + self.position(pos)
        fresh = []
        for i, block in enumerate(self.blocks):
            x, kv = block(x, None if cache is None else cache[i])
            fresh.append(kv)
        return self.head(self.norm(x)), fresh


def batches(corpus, size, length, steps, rng):
    for _ in range(steps):
        starts = [rng.randrange(len(corpus) - length - 1) for _ in range(size)]
        yield torch.stack([corpus[s:s + length + 1] for s in starts])


def train(model, corpus, rng, steps=40):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))
    loss = None
    for step, batch in enumerate(batches(corpus, 16, 64, steps, rng)):
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * 0.5 * (1 + math.cos(math.pi * step / steps))
        logits, _ = model(batch[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.inference_mode()
def sample(model, count, length, generator, temperature=0.9):
    model.eval()
    ids = torch.full((count, 1), STOI["^"])
    score = torch.zeros(count)
    while ids.shape[1] < length:
        logits, _ = model(ids)
        logp = F.log_softmax(logits[:, -1] / temperature, dim=-1)
        pick = torch.multinomial(logp.exp(), 1, generator=generator)
        score += logp.gather(1, pick).squeeze(1)
        ids = torch.cat([ids, pick], dim=1)
    return ids, score


def balanced(text):
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return depth == 0


def main():
    torch.manual_seed(5)
    rng = random.Random(6)
    text = "".join("^" + make_molecule(rng) + "$" for _ in range(3000))
    corpus = torch.tensor(encode(text))
    model = MoleculeModel()
    loss = train(model, corpus, rng)
    print(f"final loss {loss:.2f}")

    generator = torch.Generator().manual_seed(8)
    library, total = [], 0.0
    for _ in range(2):
        ids, score = sample(model, 16, 128, generator)
        total += score.mean().item()
        for row in ids.tolist():
            stream = "".join(ALPHABET[i] for i in row)
            library += [m for m in stream.replace("^", "").split("$")[:-1] if m]
    valid = sum(map(balanced, library))
    print(f"{len(library)} molecules, {len(set(library))} distinct, {valid} balanced, "
          f"mean log-probability {total / 2:.1f}")


if __name__ == "__main__":
    main()
