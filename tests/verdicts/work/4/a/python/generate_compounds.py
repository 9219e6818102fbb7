"""Samples candidate compounds (SMILES-like strings) from a language model."""
import math

import torch
from torch import nn
from torch.nn import functional as F

TOKENS = ["<pad>", "<bos>", "<eos>", "C", "c", "N", "n", "O", "o", "S", "F", "Cl", "Br",
          "(", ")", "1", "2", "=", "#", "[nH]", "[O-]", "[N+]", "/", "\\", "@"]
BOS, EOS = 1, 2
MAX_TOKENS = 96


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
        self.attention = Attention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class SmilesModel(nn.Module):
    def __init__(self, dim=128, heads=4, layers=3):
        super().__init__()
        self.embed = nn.Embedding(len(TOKENS), dim)
        self.place = nn.Embedding(MAX_TOKENS, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, len(TOKENS), bias=False)
        self.apply(self.initialise)

    @staticmethod
    def initialise(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.06)
            if getattr(module, "bias", None) is not None:
                nn.init.zeros_(module.bias)

    def forward(self, ids):
        """Logits of the token that follows each sequence."""
        x = self.embed(ids) + self.place(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, -1]))


class Grammar:
    """Keeps samples syntactically sound: brackets closed, rings paired."""

    def __init__(self, batch):
        self.depth = torch.zeros(batch, dtype=torch.long)
        self.ring = torch.zeros(batch, 2, dtype=torch.bool)
        self.open, self.close = TOKENS.index("("), TOKENS.index(")")
        self.rings = [TOKENS.index("1"), TOKENS.index("2")]

    def mask(self, logits, position):
        logits[:, :2] = -math.inf
        logits[self.depth == 0, self.close] = -math.inf
        logits[self.depth >= 3, self.open] = -math.inf
        unfinished = (self.depth > 0) | self.ring.any(1)
        logits[unfinished, EOS] = -math.inf
        if position < 20:
            logits[:, EOS] = -math.inf
        return logits

    def update(self, token):
        self.depth += (token == self.open).long() - (token == self.close).long()
        for r, ident in enumerate(self.rings):
            self.ring[:, r] ^= token == ident


def top_p_sample(logits, p, temperature, generator):
    probs = torch.softmax(logits / temperature, dim=-1)
    ordered, index = probs.sort(descending=True)
    keep = ordered.cumsum(-1) - ordered < p
    ordered = ordered * keep
    choice = torch.multinomial(ordered, 1, generator=generator)
    return index.gather(1, choice).squeeze(1)


@torch.inference_mode()
def sample(model, batch, generator, p=0.95, temperature=0.9):
    ids = torch.full((batch, 1), BOS)
    grammar = Grammar(batch)
    finished = torch.zeros(batch, dtype=torch.bool)
    while ids.shape[1] < MAX_TOKENS and not finished.all():
        logits = model(ids)
        logits = grammar.mask(logits, ids.shape[1])
        token = top_p_sample(logits, p, temperature, generator)
        token = token.masked_fill(finished, 0)
        grammar.update(token)
        finished |= token == EOS
        ids = torch.cat([ids, token.unsqueeze(1)], dim=1)
    return ids[:, 1:], finished


def to_text(row):
    out = []
    for t in row.tolist():
        if t == EOS:
            break
        out.append(TOKENS[t])
    return "".join(out)


def main():
    torch.manual_seed(7)
    generator = torch.Generator().manual_seed(11)
    model = SmilesModel().eval()
    texts, complete, tokens = [], 0, 0
    for _ in range(2):
        ids, finished = sample(model, 24, generator)
        complete += int(finished.sum())
        tokens += int((ids > 0).sum())
        texts += [to_text(row) for row in ids]
    hetero = sum(t.count("N") + t.count("O") + t.count("S") for t in texts)
    print(f"compounds {len(texts)}, distinct {len(set(texts))}, complete {complete}")
    print(f"tokens {tokens}, hetero atoms {hetero}")
    print(f"first: {texts[0][:40]}")


if __name__ == "__main__":
    main()
