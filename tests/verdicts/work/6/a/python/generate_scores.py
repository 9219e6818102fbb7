"""Generates accompaniment sketches with a small music transformer: trains on
synthetic chord progressions for a moment, then decodes a batch of prompts with
a cache of keys and values, top-k sampling, and counts notes in key."""
import math

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, DIM, HEADS, LAYERS, CONTEXT = 96, 128, 4, 3, 320
TRAIN_STEPS, BATCH, PROMPTS, PROMPT_LEN = 30, 16, 24, 16
SCALE = (0, 2, 4, 5, 7, 9, 11)


def progressions(n, length, gen):
    """Arpeggios over I-V-vi-IV in a key per row; token 12*octave + pitch."""
    key = torch.randint(12, (n, 1), generator=gen)
    t = torch.arange(length)
    root = torch.tensor([0, 4, 5, 3])[(t // 8) % 4]
    third = torch.tensor([0, 2, 4, 2])[t % 4]
    degree = (root + third)[None, :] + 7 * torch.randint(0, 2, (n, length), generator=gen)
    pitch = torch.tensor(SCALE)[degree % 7] + 12 * (degree // 7)
    return (key + 24 + pitch) % VOCAB, key.squeeze(1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)

    def forward(self, x, cache=None, at=0):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        if cache is not None:
            cache[0][:, :, at:at + n] = k
            cache[1][:, :, at:at + n] = v
            k, v = cache[0][:, :, :at + n], cache[1][:, :, :at + n]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=n > 1)
        return self.out(y.transpose(1, 2).reshape(b, n, DIM))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2, self.attn = nn.LayerNorm(DIM), nn.LayerNorm(DIM), Attention()
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x, cache=None, at=0):
        x = x + self.attn(self.n1(x), cache, at)
        return x + self.mlp(self.n2(x))


class MusicModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(DIM)
        nn.init.normal_(self.embed.weight, std=0.02)
        pos = torch.arange(CONTEXT)[:, None] * torch.exp(torch.arange(0, DIM, 2) * (-math.log(10000.0) / DIM))
        self.register_buffer("pos", torch.cat([pos.sin(), pos.cos()], 1) * 0.05)

    def forward(self, ids, caches=None, at=0, last_only=False):
        x = self.embed(ids) + self.pos[at:at + ids.shape[1]]
        for i, layer in enumerate(self.layers):
            x = layer(x, None if caches is None else caches[i], at)
        if last_only:
            x = x[:, -1:]
        return self.norm(x) @ self.embed.weight.T

    def make_caches(self, batch):
        shape = (2, batch, HEADS, CONTEXT, DIM // HEADS)
        return [torch.empty(shape) for _ in self.layers]


def train(model, gen):
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.01)
    loss = torch.zeros(())
    for step in range(TRAIN_STEPS):
        for group in opt.param_groups:
            group["lr"] = 3e-3 * min(1.0, (step + 1) / 8)
        ids, _ = progressions(BATCH, 97, gen)
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    return float(loss.detach())


@torch.inference_mode()
def generate(model, prompts, gen, top_k=12, temperature=0.9):
    model.eval()
    batch, start = prompts.shape
    caches = model.make_caches(batch)
    out = torch.empty(batch, CONTEXT, dtype=torch.long)
    out[:, :start] = prompts
    logits = model(prompts, caches, 0, last_only=True)
    for t in range(start, CONTEXT):
        values, ids = (logits[:, -1] / temperature).topk(top_k)
        pick = torch.multinomial(values.softmax(-1), 1, generator=gen)
        token = ids.gather(1, pick)
        out[:, t] = token.squeeze(1)
        if t + 1 < CONTEXT:
            logits = model(token, caches, t, last_only=True)
    return out


def in_key(notes, key):
    scale = torch.zeros(12, dtype=torch.bool)
    scale[list(SCALE)] = True
    return float(scale[(notes - key[:, None]) % 12].float().mean())


def main():
    torch.manual_seed(2)
    gen = torch.Generator().manual_seed(7)
    model = MusicModel()
    print(f"training loss {train(model, gen):.3f}")
    kept = 0.0
    rounds = 3
    for n in range(rounds):
        prompts, key = progressions(PROMPTS, PROMPT_LEN, gen)
        notes = generate(model, prompts, gen)
        share = in_key(notes[:, PROMPT_LEN:], key)
        kept += share
        print(f"batch {n}: {notes.numel()} notes, in key {share:.3f}", flush=True)
    print(f"mean in key {kept / rounds:.3f}")


if __name__ == "__main__":
    main()
