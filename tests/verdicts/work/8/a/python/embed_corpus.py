"""Embeds the knowledge-base articles for semantic search and checks the index.

Articles have very different lengths, so they are batched by length under a token
budget; the embeddings are written to a memory-mapped matrix and searched.
"""
import hashlib
import os
import random
import tempfile

import torch
from torch import nn
import torch.nn.functional as F

TOPICS = ["printer", "network", "payroll", "badge", "laptop", "travel", "database", "phone"]
FILLER = ("please check that the the device is on and then open a ticket with the service "
          "team if it still does not work after the update of your settings").split()
VOCAB = 4096
PAD = 0


def write_articles(n, seed):
    rng = random.Random(seed)
    articles = []
    for i in range(n):
        topic = TOPICS[i % len(TOPICS)]
        length = min(180, int(rng.lognormvariate(3.4, 0.7)) + 4)
        words = [topic if rng.random() < 0.4 else rng.choice(FILLER) for _ in range(length)]
        words[0] = topic
        articles.append((topic, " ".join(words)))
    return articles


class HashTokenizer:
    def __init__(self):
        self.known = {}

    def word_id(self, word):
        token = self.known.get(word)
        if token is None:
            digest = hashlib.blake2b(word.encode(), digest_size=4).digest()
            token = self.known[word] = 1 + int.from_bytes(digest, "big") % (VOCAB - 1)
        return token

    def __call__(self, text):
        return [self.word_id(w) for w in text.split()]


class Encoder(nn.Module):
    def __init__(self, dim=256, heads=4, layers=4):
        super().__init__()
        self.token = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.position = nn.Embedding(192, dim)
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, dropout=0.0, activation="gelu",
                                           batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.project = nn.Linear(dim, 128, bias=False)

    def forward(self, tokens):
        padding = tokens == PAD
        x = self.token(tokens) + 0.1 * self.position.weight[:tokens.shape[1]]
        x = self.encoder(x, src_key_padding_mask=padding)
        keep = (~padding).unsqueeze(-1).to(x.dtype)
        pooled = (x * keep).sum(1) / keep.sum(1)
        return F.normalize(self.project(pooled), dim=-1)


def batches_by_length(sequences, budget):
    """Indices grouped so that rows * longest stays under the token budget."""
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
    group = []
    for i in order:
        if group and (len(group) + 1) * len(sequences[i]) > budget:
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def pad(sequences):
    out = torch.full((len(sequences), max(map(len, sequences))), PAD, dtype=torch.long)
    for row, sequence in zip(out, sequences):
        row[:len(sequence)] = torch.tensor(sequence)
    return out


@torch.inference_mode()
def embed(model, sequences, path, budget=2048):
    matrix = torch.from_file(path, shared=True, size=len(sequences) * 128).view(-1, 128)
    tokens = padded = 0
    for group in batches_by_length(sequences, budget):
        batch = pad([sequences[i] for i in group])
        matrix[torch.tensor(group)] = model(batch)
        tokens += int(sum(len(sequences[i]) for i in group))
        padded += batch.numel()
    return matrix, tokens, padded


@torch.inference_mode()
def precision_at_k(matrix, labels, k, chunk=512):
    right = torch.zeros((), dtype=torch.long)
    for begin in range(0, len(matrix), chunk):
        rows = matrix[begin:begin + chunk]
        scores = rows @ matrix.T
        index = torch.arange(len(rows))
        scores[index, begin + index] = -2.0
        top = scores.topk(k, dim=1).indices
        right += (labels[top] == labels[begin:begin + chunk, None]).sum()
    return float(right) / (len(matrix) * k)


def main():
    torch.manual_seed(31)
    articles = write_articles(1500, seed=32)
    tokenizer = HashTokenizer()
    sequences = [tokenizer(text) for _, text in articles]
    labels = torch.tensor([TOPICS.index(topic) for topic, _ in articles])
    model = Encoder().eval()
    with tempfile.TemporaryDirectory(prefix="embed_") as folder:
        path = os.path.join(folder, "index.f32")
        matrix, tokens, padded = embed(model, sequences, path)
        precision = precision_at_k(matrix, labels, k=10)
    print(f"articles {len(articles)}  tokens {tokens}  padding {100 * (padded / tokens - 1):.1f}%")
    print(f"precision@10 {precision:.2f}")


if __name__ == "__main__":
    main()
