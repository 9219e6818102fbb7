"""Drafts short replies for the support desk with a small decoder-only model.

The model is fitted for a moment on the desk's canned phrases (byte level), then
writes greedy drafts for a batch of open tickets.
"""
import math

import torch
from torch import nn
import torch.nn.functional as F

PHRASES = [
    "thank you for your message, we will look into it today.",
    "your order has left the warehouse and arrives tomorrow.",
    "please send us a photo of the damaged part.",
    "we have refunded the amount to your account.",
    "the invoice is attached, have a nice day.",
    "a technician will call you in the afternoon.",
]
TICKETS = ["thank", "your o", "please", "we hav", "the in", "a tech", "we wil", "your a"]
PAD = 0


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


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Writer(nn.Module):
    def __init__(self, vocab=128, dim=192, heads=6, layers=4, context=320):
        super().__init__()
        self.token = nn.Embedding(vocab, dim)
        position = torch.arange(context).unsqueeze(1)
        rate = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        table = torch.zeros(context, dim)
        table[:, 0::2] = torch.sin(position * rate)
        table[:, 1::2] = torch.cos(position * rate)
        self.register_buffer("position", table)
        self.layers = nn.ModuleList(Layer(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        x = self.token(tokens) + self.position[:tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def encode(texts, length):
    out = torch.full((len(texts), length), PAD, dtype=torch.long)
    for i, text in enumerate(texts):
        raw = torch.tensor(list(text.encode("ascii")))[:length]
        out[i, :len(raw)] = raw
    return out


def decode(row):
    return bytes(t for t in row.tolist() if t != PAD).decode("ascii", "replace")


def training_batch(generator, batch, length):
    texts = []
    for _ in range(batch):
        order = torch.randint(len(PHRASES), (3,), generator=generator).tolist()
        texts.append(" ".join(PHRASES[i] for i in order))
    return encode(texts, length)


def fit(model, steps, generator):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.98))
    model.train()
    for _ in range(steps):
        batch = training_batch(generator, 8, 97)
        logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return float(loss.detach())


@torch.inference_mode()
def write_drafts(model, prompts, length):
    """Greedy continuation of prompts of equal length, all in one batch."""
    model.eval()
    tokens = prompts
    for _ in range(length):
        logits = model(tokens)
        following = logits[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, following], dim=1)
    return tokens


def mean_log_likelihood(model, tokens):
    with torch.inference_mode():
        logits = model(tokens[:, :-1])
        return -float(F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()))


def main():
    torch.manual_seed(11)
    generator = torch.Generator().manual_seed(12)
    model = Writer()
    loss = fit(model, steps=12, generator=generator)
    print(f"fitted, loss {loss:.2f}")

    width = min(len(t) for t in TICKETS)
    prompts = encode([t[:width] for t in TICKETS], width)
    drafts = write_drafts(model, prompts, length=135)
    print(f"drafts {tuple(drafts.shape)}  score {mean_log_likelihood(model, drafts):.3f}")
    for row in drafts[:3]:
        print(repr(decode(row)[:60]))


if __name__ == "__main__":
    main()
