"""Capacity check of the reply-drafting model before it goes to the help desk.

Builds the decoder in its production shape (with seeded weights, speed does not
depend on them), drafts a reply to every thread of a recorded-like queue and
reports the tokens produced and the scores that the ranking step would use.
"""
import math
import random
import time

import torch
from torch import nn
import torch.nn.functional as F

SEED = 11
VOCAB = [chr(c) for c in range(32, 127)]
STOI = {c: i + 2 for i, c in enumerate(VOCAB)}
PAD, EOS = 0, 1
MAX_LEN = 512
MIN_TOKENS, MAX_TOKENS = 60, 110

ITEMS = ["kettle", "desk lamp", "rain jacket", "headset", "tent", "blender"]
ISSUES = ["arrived broken", "has not arrived", "is the wrong colour", "does not switch on"]
FOLLOW_UPS = [
    "I already wrote on Tuesday and nobody answered.",
    "Could you tell me when the replacement ships?",
    "The invoice number is R-{n}.",
    "I would rather have the money back.",
    "A neighbour took the parcel, order {n}.",
]


def make_thread(rng):
    lines = [f"Hello, my {rng.choice(ITEMS)} {rng.choice(ISSUES)}."]
    for _ in range(rng.randint(2, 4)):
        lines.append(rng.choice(FOLLOW_UPS).format(n=rng.randrange(10**5, 10**6)))
    return " ".join(lines)


def encode(text):
    return [STOI[c] for c in text]


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ReplyModel(nn.Module):
    def __init__(self, dim=160, heads=5, layers=4):
        super().__init__()
        self.tok = nn.Embedding(len(VOCAB) + 2, dim)
        self.pos = nn.Embedding(MAX_LEN, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, len(VOCAB) + 2)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.12)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def pick(logits, count):
    """Greedy choice; the end mark is not allowed before MIN_TOKENS."""
    logp = torch.log_softmax(logits, dim=-1)
    logp[PAD] = -math.inf
    if count < MIN_TOKENS:
        logp[EOS] = -math.inf
    value, token = logp.max(dim=-1)
    return token.item(), value.item()


@torch.inference_mode()
def draft(model, thread):
    ids = encode(thread + " > ")
    start, score = len(ids), 0.0
    while len(ids) - start < MAX_TOKENS:
        logits = model(torch.tensor([ids]))[0, -1]
        token, logp = pick(logits, len(ids) - start)
        score += logp
        if token == EOS:
            break
        ids.append(token)
    return ids[start:], score


@torch.inference_mode()
def rescore(model, thread, reply):
    """Log-probability of a finished reply, as the ranking step computes it."""
    prompt = encode(thread + " > ")
    ids = torch.tensor([prompt + reply])
    logp = torch.log_softmax(model(ids)[0, :-1], dim=-1)
    picked = logp.gather(1, ids[0, 1:, None])[:, 0]
    return picked[len(prompt) - 1:].sum().item()


def main():
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    model = ReplyModel().eval()
    print(f"parameters {sum(p.numel() for p in model.parameters())}")

    tokens, distinct, total, ranked = 0, set(), 0.0, 0.0
    latency = []
    for _ in range(4):
        thread = make_thread(rng)
        began = time.perf_counter()
        reply, score = draft(model, thread)
        latency.append(time.perf_counter() - began)
        candidates = [reply] + [reply[:n] for n in (40, 50)]
        ranked += max(rescore(model, thread, c) / len(c) for c in candidates)
        tokens += len(reply)
        distinct.update(reply)
        total += score
    print(f"tokens {tokens}, distinct {len(distinct)}, mean log-probability {total / tokens:.4f}, "
          f"ranking score {ranked:.4f}")
    if max(latency) > 60:
        print("slow: a draft took more than a minute")


if __name__ == "__main__":
    main()
