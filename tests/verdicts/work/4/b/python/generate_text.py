"""Sample product descriptions from the small decoder model with nucleus
sampling and a preallocated key/value cache."""
import torch
import torch.nn.functional as F
from torch import nn

VOCAB = 4096
WIDTH, HEADS, LAYERS = 256, 8, 6
MAX_LEN = 224
BATCH = 8
NEW_TOKENS = 180


class Cache:
    """Keys and values of all layers, written in place at the current position."""

    def __init__(self, batch):
        shape = (LAYERS, batch, HEADS, MAX_LEN, WIDTH // HEADS)
        self.k = torch.zeros(shape)
        self.v = torch.zeros(shape)
        self.length = 0

    def update(self, layer, k, v):
        end = self.length + k.shape[2]
        self.k[layer, :, :, self.length : end] = k
        self.v[layer, :, :, self.length : end] = v
        return self.k[layer, :, :, :end], self.v[layer, :, :, :end]


def rotary_table():
    inv = 10000 ** (-torch.arange(0, WIDTH // HEADS, 2) / (WIDTH // HEADS))
    angle = torch.arange(MAX_LEN)[:, None] * inv
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


class Layer(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.down = nn.Linear(3 * WIDTH, WIDTH, bias=False)

    def forward(self, x, cos, sin, cache):
        b, t, _ = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, 3, HEADS, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        k, v = cache.update(self.index, k, v)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, WIDTH))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCAB, WIDTH)
        nn.init.normal_(self.token.weight, std=0.02)
        self.layers = nn.ModuleList(Layer(i) for i in range(LAYERS))
        self.norm = nn.RMSNorm(WIDTH)
        cos, sin = rotary_table()
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, ids, cache):
        """Logits of the last position; the cache moves on by the given ids."""
        start, end = cache.length, cache.length + ids.shape[1]
        cos, sin = self.cos[start:end], self.sin[start:end]
        x = self.token(ids)
        for layer in self.layers:
            x = layer(x, cos, sin, cache)
        cache.length = end
        return F.linear(self.norm(x[:, -1]), self.token.weight)


def nucleus(logits, temperature, top_k, top_p, g):
    values, index = (logits / temperature).topk(top_k, 1)
    probs = values.softmax(1)
    before = probs.cumsum(1) - probs
    probs = probs.masked_fill(before > top_p, 0)
    pick = torch.multinomial(probs, 1, generator=g)
    return index.gather(1, pick)


@torch.inference_mode()
def generate(model, prompts, g):
    cache = Cache(len(prompts))
    out = torch.empty(len(prompts), NEW_TOKENS, dtype=torch.long)
    logits = model(prompts, cache)
    for i in range(NEW_TOKENS):
        token = nucleus(logits, 0.9, 50, 0.92, g)
        out[:, i] = token[:, 0]
        if i + 1 < NEW_TOKENS:
            logits = model(token, cache)
    return out


def repetition(tokens):
    """Share of trigrams of a sample that occur in it more than once."""
    rate = 0.0
    for row in tokens.tolist():
        grams = list(zip(row, row[1:], row[2:]))
        rate += 1 - len(set(grams)) / len(grams)
    return rate / len(tokens)


def main():
    torch.manual_seed(42)
    model = Decoder().eval()
    g = torch.Generator().manual_seed(7)
    samples = []
    for request in range(3):
        prompts = torch.randint(0, VOCAB, (BATCH, 24 + 8 * request), generator=g)
        samples.append(generate(model, prompts, g))
        print(f"request {request}: prompt {prompts.shape[1]} tokens, repetition {repetition(samples[-1]):.3f}")
    tokens = torch.cat(samples)
    print(f"{tokens.numel()} tokens, {tokens.unique().numel()} distinct, checksum {int(tokens.sum())}")


if __name__ == "__main__":
    main()
