"""Batch scoring of product reviews with the tone classifier: tokenizes the
texts, runs the encoder, and writes a summary per product."""
import random
import re
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn

MAX_LENGTH = 192
BATCH = 32
WIDTH, HEADS, LAYERS = 128, 4, 3
REVIEWS = 1100
PAD, UNK = 0, 1

GOOD = "great solid lovely quick perfect sturdy bright quiet happy recommend".split()
BAD = "broken slow noisy cheap late awful scratched weak refund disappointed".split()
PLAIN = (
    "the a it this box arrived with and my for after week use on desk kitchen cable size "
    "colour price shop order button light sound battery screen works came two days again"
).split()


class Tokenizer:
    pattern = re.compile(r"[a-z]+|[.!?]")

    def __init__(self, words):
        self.ids = {w: i + 2 for i, w in enumerate(sorted(set(words) | set(".!?")))}

    def __len__(self):
        return len(self.ids) + 2

    def encode(self, text):
        ids = [self.ids.get(t, UNK) for t in self.pattern.findall(text.lower())]
        return ids[:MAX_LENGTH]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.ff = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, mask):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = x + self.out(y.transpose(1, 2).reshape(b, t, WIDTH))
        return x + self.ff(self.norm2(x))


class ToneModel(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.token = nn.Embedding(vocab, WIDTH, padding_idx=PAD)
        self.position = nn.Embedding(MAX_LENGTH, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 3)

    def forward(self, ids):
        mask = ids != PAD
        x = self.token(ids) + self.position.weight[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x, mask)
        weight = mask.unsqueeze(2).float()
        return self.head((x * weight).sum(1) / weight.sum(1))


def write_reviews(rng):
    for i in range(REVIEWS):
        tone = rng.choice((GOOD, BAD, PLAIN))
        words = []
        length = min(180, 8 + int(rng.expovariate(1 / 22)))
        while len(words) < length:
            words.append(rng.choice(tone if rng.random() < 0.25 else PLAIN))
            if rng.random() < 0.1:
                words.append(rng.choice(".!?"))
        yield f"P{rng.randrange(40):03d}", " ".join(words)


def collate(rows):
    ids = torch.full((len(rows), max(map(len, rows))), PAD, dtype=torch.long)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
    return ids


@torch.inference_mode()
def score(model, encoded):
    """Probabilities in the order of the input; similar lengths share a batch."""
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
    out = torch.empty(len(encoded), 3)
    for start in range(0, len(order), BATCH):
        pick = order[start : start + BATCH]
        out[torch.tensor(pick)] = model(collate([encoded[i] for i in pick])).softmax(1)
    return out


def summarize(products, scores):
    table = defaultdict(lambda: [0, 0.0, 0])
    for product, row in zip(products, scores.tolist()):
        entry = table[product]
        entry[0] += 1
        entry[1] += row[0] - row[1]
        entry[2] += max(row) < 0.5
    return table


def main():
    rng = random.Random(77)
    torch.manual_seed(9)
    tokenizer = Tokenizer(GOOD + BAD + PLAIN)
    model = ToneModel(len(tokenizer)).eval()
    products, texts = zip(*write_reviews(rng))
    encoded = [tokenizer.encode(t) for t in texts]
    table = summarize(products, score(model, encoded))
    ranked = sorted(table, key=lambda p: round(table[p][1] / table[p][0], 6))
    for product in (ranked[0], ranked[-1]):
        count, tone, unsure = table[product]
        print(f"{product}: {count} reviews, tone {tone / count:+.4f}, {unsure} unsure")
    tokens = sum(map(len, encoded))
    print(f"{len(texts)} reviews, {tokens} tokens, {len(table)} products")


if __name__ == "__main__":
    main()
