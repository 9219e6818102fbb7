"""Batch translation with a small encoder-decoder: greedy decoding of documents
that were queued during the day, several sentences at a time."""
import torch
from torch import nn
from torch.nn import functional as F

VOCAB = 4000
WIDTH, HEADS, LAYERS = 256, 8, 3
SOURCE_LEN, TARGET_LEN = 112, 64
BATCH, BATCHES = 8, 8
BOS = 1


def split_heads(x):
    b, n, w = x.shape
    return x.view(b, n, HEADS, w // HEADS).transpose(1, 2)


def merge_heads(x):
    b, h, n, d = x.shape
    return x.transpose(1, 2).reshape(b, n, h * d)


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, cache=None, position=None):
        q, k, v = (split_heads(t) for t in self.qkv(x).chunk(3, dim=-1))
        if cache is not None:
            keys, values = cache
            keys[:, :, position] = k[:, :, 0]
            values[:, :, position] = v[:, :, 0]
            k, v = keys[:, :, :position + 1], values[:, :, :position + 1]
        return self.out(merge_heads(F.scaled_dot_product_attention(q, k, v)))


class CrossAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(WIDTH, WIDTH)
        self.kv = nn.Linear(WIDTH, 2 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, memory, mask):
        k, v = (split_heads(t) for t in self.kv(memory).chunk(2, dim=-1))
        mixed = F.scaled_dot_product_attention(split_heads(self.q(x)), k, v, attn_mask=mask)
        return self.out(merge_heads(mixed))


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.mlp = SelfAttention(), FeedForward()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.cross, self.mlp = SelfAttention(), CrossAttention(), FeedForward()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(WIDTH) for _ in range(3))

    def forward(self, x, memory, mask, cache, position):
        x = x + self.attention(self.norm1(x), cache, position)
        x = x + self.cross(self.norm2(x), memory, mask)
        return x + self.mlp(self.norm3(x))


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.position = nn.Embedding(max(SOURCE_LEN, TARGET_LEN), WIDTH)
        self.encoder = nn.ModuleList(EncoderLayer() for _ in range(LAYERS))
        self.decoder = nn.ModuleList(DecoderLayer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)

    def encode(self, source):
        x = self.embed(source) + self.position.weight[:source.shape[1]]
        for layer in self.encoder:
            x = layer(x)
        return x

    def step(self, token, position, memory, mask, caches):
        x = (self.embed(token) + self.position.weight[position]).unsqueeze(1)
        for layer, cache in zip(self.decoder, caches):
            x = layer(x, memory, mask, cache, position)
        return F.linear(self.norm(x[:, 0]), self.embed.weight)

    def new_caches(self, batch):
        shape = (batch, HEADS, TARGET_LEN, WIDTH // HEADS)
        return [(torch.empty(shape), torch.empty(shape)) for _ in range(LAYERS)]

    @torch.inference_mode()
    def translate(self, source, lengths):
        batch = source.shape[0]
        memory = self.encode(source)
        mask = (torch.arange(source.shape[1]) < lengths[:, None])[:, None, None, :]
        caches = self.new_caches(batch)
        token = torch.full((batch,), BOS)
        output, confidence = [], torch.zeros(batch)
        used = torch.zeros(batch, VOCAB)
        for position in range(TARGET_LEN):
            logits = self.step(token, position, memory, mask, caches) - 4.0 * used
            best, token = F.log_softmax(logits, dim=-1).max(dim=-1)
            used.scatter_add_(1, token[:, None], torch.ones(batch, 1))
            confidence += best
            output.append(token)
        return torch.stack(output, dim=1), confidence / TARGET_LEN


def main():
    torch.manual_seed(12)
    model = Translator().eval()
    gen = torch.Generator().manual_seed(5)
    checksum, confidence = 0, 0.0
    for number in range(BATCHES):
        source = torch.randint(2, VOCAB, (BATCH, SOURCE_LEN), generator=gen)
        lengths = torch.randint(SOURCE_LEN // 2, SOURCE_LEN + 1, (BATCH,), generator=gen)
        tokens, score = model.translate(source, lengths)
        checksum = (checksum * 31 + int(tokens.sum())) % 1_000_003
        confidence += float(score.mean())
    print(f"sentences {BATCH * BATCHES}, tokens {BATCH * BATCHES * TARGET_LEN}, "
          f"mean log-probability {confidence / BATCHES:.4f}, checksum {checksum}")


if __name__ == "__main__":
    main()
