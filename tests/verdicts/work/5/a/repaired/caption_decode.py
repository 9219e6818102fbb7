"""Batch captioning of product photos: beam-free decoding with a small
transformer decoder (cached keys and values) over precomputed image features.
"""
import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

VOCAB = 4096
BOS, EOS, PAD = 1, 2, 0
WIDTH = 256
HEADS = 4
LAYERS = 4
REGIONS = 36
MAX_TOKENS = 72


@dataclass
class Options:
    batch: int = 32
    batches: int = 8
    temperature: float = 0.9
    top_k: int = 40


class CachedAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, cache, position):
        n = x.shape[0]
        q, k, v = self.qkv(x).view(n, 3, HEADS, WIDTH // HEADS).unbind(1)
        cache[0][:, :, position] = k
        cache[1][:, :, position] = v
        keys, values = cache[0][:, :, : position + 1], cache[1][:, :, : position + 1]
        y = F.scaled_dot_product_attention(q.unsqueeze(2), keys, values)
        return self.out(y.reshape(n, WIDTH))


class ImageAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(WIDTH, WIDTH)
        self.kv = nn.Linear(WIDTH, 2 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def memory(self, features):
        n = features.shape[0]
        kv = self.kv(features).view(n, REGIONS, 2, HEADS, WIDTH // HEADS)
        return kv.permute(2, 0, 3, 1, 4).contiguous().unbind(0)

    def forward(self, x, memory):
        n = x.shape[0]
        q = self.q(x).view(n, HEADS, 1, WIDTH // HEADS)
        return self.out(F.scaled_dot_product_attention(q, *memory).reshape(n, WIDTH))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.own = CachedAttention()
        self.image = ImageAttention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, cache, memory, position):
        x = x + self.own(self.norms[0](x), cache, position)
        x = x + self.image(self.norms[1](x), memory)
        return x + self.mlp(self.norms[2](x))


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.project = nn.Linear(512, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.unembed = nn.Linear(WIDTH, VOCAB, bias=False)
        # The base release learned captions of about 20 words; its length prior is a table.
        step = torch.arange(MAX_TOKENS, dtype=torch.float32)
        self.register_buffer("length_prior", 9.0 * torch.sigmoid((step - 18) / 3.0) - 3.0)
        table = torch.zeros(MAX_TOKENS, WIDTH)
        rate = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
        table[:, 0::2] = torch.sin(step[:, None] * rate)
        table[:, 1::2] = torch.cos(step[:, None] * rate)
        self.register_buffer("positions", table)

    def start(self, images):
        features = self.project(images)
        n = images.shape[0]
        shape = (n, HEADS, MAX_TOKENS, WIDTH // HEADS)
        caches = [(torch.empty(shape), torch.empty(shape)) for _ in self.layers]
        return caches, [layer.image.memory(features) for layer in self.layers]

    def forward(self, tokens, state, position):
        caches, memories = state
        x = self.embed(tokens) + self.positions[position]
        for layer, cache, memory in zip(self.layers, caches, memories):
            x = layer(x, cache, memory, position)
        logits = self.unembed(self.norm(x))
        logits[:, EOS] += self.length_prior[position]
        logits[:, [PAD, BOS]] = -math.inf
        return logits


def noise_table(batch, seed):
    """Gumbel noise for each step, drawn ahead so that a caption can be made again."""
    g = torch.Generator().manual_seed(seed)
    u = torch.rand(MAX_TOKENS, batch, 64, generator=g).clamp_(1e-6, 1 - 1e-6)
    return -torch.log(-torch.log(u))


def pick(logits, noise, options):
    values, indices = logits.topk(options.top_k, dim=1)
    best = (values / options.temperature + noise[:, : options.top_k]).argmax(dim=1, keepdim=True)
    return indices.gather(1, best).squeeze(1)


@torch.inference_mode()
def caption(model, images, options, seed):
    n = images.shape[0]
    state = model.start(images)
    noise = noise_table(n, seed)
    tokens = torch.full((n,), BOS)
    finished = torch.zeros(n, dtype=torch.bool)
    output = torch.full((n, MAX_TOKENS), PAD)
    for position in range(MAX_TOKENS):
        tokens = pick(model(tokens, state, position), noise[position], options)
        tokens = torch.where(finished, PAD, tokens)
        finished |= tokens == EOS
        output[:, position] = tokens
        if finished.all():
            break
    return output


def main():
    torch.manual_seed(1234)
    options = Options()
    model = Captioner().eval()
    g = torch.Generator().manual_seed(77)
    lengths, words = [], torch.zeros(VOCAB, dtype=torch.long)
    for b in range(options.batches):
        images = torch.randn(options.batch, REGIONS, 512, generator=g)
        output = caption(model, images, options, seed=b)
        lengths.append((output > EOS).sum(dim=1))
        words += torch.bincount(output.flatten(), minlength=VOCAB)
    lengths = torch.cat(lengths).float()
    words[: EOS + 1] = 0
    print(f"{len(lengths)} captions, mean length {lengths.mean():.2f}, longest {int(lengths.max())}")
    print(f"{int((words > 0).sum())} distinct words")


if __name__ == "__main__":
    main()
