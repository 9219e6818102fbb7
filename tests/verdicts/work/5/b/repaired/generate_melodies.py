"""Samples melodies from a small decoder-only transformer over note tokens.

The model is first fitted for a short while to a synthetic corpus of folk-like
phrases, then used to continue a set of opening bars.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB = 96          # 0..87 pitches, 88..95 durations
CONTEXT = 216
DIM = 128
HEADS = 4
LAYERS = 4
PROMPT = 16
BATCH = 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.proj = nn.Linear(DIM, DIM)
        self.norm2 = nn.LayerNorm(DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x, cache=None):
        b, t, _ = x.shape
        q, k, v = (y.view(b, t, HEADS, DIM // HEADS).transpose(1, 2)
                   for y in self.qkv(self.norm1(x)).chunk(3, dim=-1))
        if cache is not None:
            if "k" in cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        att = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1)
        x = x + self.proj(att.transpose(1, 2).reshape(b, t, DIM))
        return x + self.mlp(self.norm2(x))


class MelodyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, DIM)
        self.register_buffer("positions", self._sinusoids())
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB, bias=False)

    @staticmethod
    def _sinusoids():
        pos = torch.arange(CONTEXT).unsqueeze(1)
        freq = torch.exp(torch.arange(0, DIM, 2) * (-math.log(10000.0) / DIM))
        table = torch.zeros(CONTEXT, DIM)
        table[:, 0::2] = torch.sin(pos * freq)
        table[:, 1::2] = torch.cos(pos * freq)
        return table

    def forward(self, ids, caches=None, start=0):
        x = self.tokens(ids) + self.positions[start: start + ids.shape[1]]
        for i, block in enumerate(self.blocks):
            x = block(x, caches[i] if caches is not None else None)
        return self.head(self.norm(x))


def phrases(count, length, gen):
    """Note / duration pairs: walks on a major scale that return to the tonic."""
    scale = torch.tensor([0, 2, 4, 5, 7, 9, 11])
    steps = torch.randint(-2, 3, (count, length // 2), generator=gen)
    degree = (14 + torch.cumsum(steps, 1)).clamp(0, 34)
    degree[:, ::8] = 14
    pitch = 24 + scale[degree % 7] + 12 * torch.div(degree, 7, rounding_mode="floor") - 12
    duration = 88 + torch.randint(0, 3, (count, length // 2), generator=gen)
    return torch.stack([pitch, duration], 2).view(count, -1)


def fit(model, steps, gen):
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(steps):
        ids = phrases(16, 64, gen)
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, VOCAB), ids[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


@torch.inference_mode()
def generate(model, prompt, length, gen, temperature=0.9, top_k=12):
    ids = fresh = prompt
    caches = [{} for _ in range(LAYERS)]
    while ids.shape[1] < length:
        logits = model(fresh, caches, ids.shape[1] - fresh.shape[1])[:, -1] / temperature
        values, indices = logits.topk(top_k, dim=-1)
        choice = torch.multinomial(values.softmax(-1), 1, generator=gen)
        fresh = indices.gather(1, choice)
        ids = torch.cat([ids, fresh], dim=1)
    return ids


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(21)
    model = MelodyModel()
    loss = fit(model, 48, gen)
    model.eval()
    print(f"fitted, loss {loss:.2f}")
    alternation = in_scale = notes = 0
    for piece in range(2):
        prompt = phrases(BATCH, PROMPT, gen)
        melody = generate(model, prompt, CONTEXT, gen)
        pitch, duration = melody[:, 0::2], melody[:, 1::2]
        alternation += ((pitch < 88) & (duration >= 88)).sum().item()
        in_scale += torch.isin(pitch % 12, torch.tensor([0, 2, 4, 5, 7, 9, 11])).sum().item()
        notes += pitch.numel()
        print(f"piece {piece}: {melody[0, PROMPT:PROMPT + 16].tolist()}")
    print(f"{notes} notes, {alternation / notes:.1%} well formed, {in_scale / notes:.1%} in scale")


if __name__ == "__main__":
    main()
