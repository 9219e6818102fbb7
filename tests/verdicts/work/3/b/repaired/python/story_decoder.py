"""Greedy story continuation with a small decoder-only transformer."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class DecoderConfig:
    vocab: int = 600
    width: int = 192
    heads: int = 6
    layers: int = 4
    context: int = 512


@dataclass
class GenerationConfig:
    new_tokens: int = 200
    eos: int = -1
    repetition_window: int = 16
    keep_state: bool = True


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.qkv = nn.Linear(cfg.width, 3 * cfg.width)
        self.out = nn.Linear(cfg.width, cfg.width)

    def forward(self, x, past):
        b, t, w = x.shape
        q, k, v = (p.view(b, t, self.heads, w // self.heads).transpose(1, 2) for p in self.qkv(x).chunk(3, dim=-1))
        if past is not None:
            k = torch.cat((past[0], k), dim=2)
            v = torch.cat((past[1], v), dim=2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1)
        return self.out(y.transpose(1, 2).reshape(b, t, w)), (k, v)


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(cfg.width), nn.LayerNorm(cfg.width)
        self.attn = Attention(cfg)
        self.mlp = nn.Sequential(nn.Linear(cfg.width, 4 * cfg.width), nn.GELU(), nn.Linear(4 * cfg.width, cfg.width))

    def forward(self, x, past):
        a, state = self.attn(self.ln1(x), past)
        x = x + a
        return x + self.mlp(self.ln2(x)), state


class Decoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok = nn.Embedding(cfg.vocab, cfg.width)
        self.pos = nn.Embedding(cfg.context, cfg.width)
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.layers))
        self.norm = nn.LayerNorm(cfg.width)

    def forward(self, ids, past=None):
        start = 0 if past is None else past[0][0].shape[2]
        x = self.tok(ids) + self.pos(torch.arange(start, start + ids.shape[1]))
        states = []
        for i, block in enumerate(self.blocks):
            x, s = block(x, None if past is None else past[i])
            states.append(s)
        return self.norm(x[:, -1]) @ self.tok.weight.T, states


def penalise_recent(logits, ids, window):
    recent = ids[:, -window:]
    return logits.scatter(1, recent, logits.gather(1, recent) - 4.0)


@torch.inference_mode()
def generate(model, prompt, gen):
    ids, past = prompt, None
    for _ in range(gen.new_tokens):
        if gen.keep_state and past is not None:
            logits, past = model(ids[:, -1:], past)
        else:
            logits, past = model(ids)
        logits = penalise_recent(logits, ids, gen.repetition_window)
        nxt = logits.argmax(dim=-1, keepdim=True)
        ids = torch.cat((ids, nxt), dim=1)
        if bool((nxt == gen.eos).all()):
            break
    return ids


def main():
    torch.manual_seed(4)
    cfg = DecoderConfig()
    model = Decoder(cfg).eval()
    gen = GenerationConfig()
    total = 0
    for batch, prompt_len in enumerate((40,)):
        prompt = torch.randint(0, cfg.vocab, (4, prompt_len), generator=torch.Generator().manual_seed(batch))
        ids = generate(model, prompt, gen)
        total = (total * 31 + int((ids * torch.arange(1, ids.shape[1] + 1)).sum())) % 1_000_003
    print(f"tokens {ids.numel()} checksum {total}")


if __name__ == "__main__":
    main()
