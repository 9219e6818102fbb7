"""Trains a classifier of what customers want from the help desk's chat.

A small transformer reads the words of a message; the mean of its outputs decides among
the intents."""
import math
import random

import torch
from torch import nn
from torch.nn import functional as F

INTENTS = 8
VOCABULARY = 3000
MAX_WORDS = 96
WIDTH = 64
HEADS = 4
LAYERS = 2
BATCH = 32
MESSAGES = 3040
EPOCHS = 1
PAD, UNKNOWN = 0, 1


def make_messages(count, seed):
    """Pairs of text and intent: each intent has some words of its own."""
    rng = random.Random(seed)
    messages = []
    for _ in range(count):
        intent = rng.randrange(INTENTS)
        length = rng.randint(40, 90) if rng.random() < 0.006 else max(3, int(rng.gauss(11, 4)))
        words = []
        for _ in range(length):
            if rng.random() < 0.25:
                words.append(f"topic{intent}x{rng.randrange(60)}")
            else:
                words.append(f"w{int(2600 * rng.random() ** 2)}")
        messages.append((" ".join(words), intent))
    return messages


class Tokenizer:
    def __init__(self, texts):
        counts = {}
        for text in texts:
            for word in text.split():
                counts[word] = counts.get(word, 0) + 1
        known = sorted(counts, key=lambda word: (-counts[word], word))[: VOCABULARY - 2]
        self.ids = {word: number + 2 for number, word in enumerate(known)}

    def encode(self, text):
        return [self.ids.get(word, UNKNOWN) for word in text.split()][:MAX_WORDS]

    def batch(self, texts):
        rows = [self.encode(text) for text in texts]
        width = max(len(row) for row in rows)
        return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, visible):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=visible[:, None, None, :])
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.feed(self.norm2(x))


class IntentModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(VOCABULARY, WIDTH, padding_idx=PAD)
        angle = torch.arange(MAX_WORDS)[:, None] * torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(1e4) / WIDTH))
        self.register_buffer("place", torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1))
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, INTENTS)

    def forward(self, ids):
        visible = ids != PAD
        x = self.word(ids) + 0.1 * self.place[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x, visible)
        weight = visible[..., None].float()
        mean = (self.norm(x) * weight).sum(dim=1) / weight.sum(dim=1)
        return self.head(mean)


def batches(messages, tokenizer):
    for at in range(0, len(messages), BATCH):
        part = messages[at : at + BATCH]
        yield tokenizer.batch([text for text, _ in part]), torch.tensor([intent for _, intent in part])


def train(model, messages, tokenizer):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    rng = random.Random(1)
    for _ in range(EPOCHS):
        rng.shuffle(messages)
        total = 0.0
        for ids, intents in batches(messages, tokenizer):
            loss = F.cross_entropy(model(ids), intents)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(intents)
    return total / len(messages)


def accuracy(model, messages, tokenizer):
    with torch.no_grad():
        right = sum((model(ids).argmax(dim=1) == intents).sum().item() for ids, intents in batches(messages, tokenizer))
    return right / len(messages)


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    messages = make_messages(MESSAGES, seed=7)
    tokenizer = Tokenizer(text for text, _ in messages)
    model = IntentModel()
    loss = train(model, messages, tokenizer)
    print(f"messages {MESSAGES}, words known {len(tokenizer.ids)}, last loss {loss:.3f}")
    print(f"accuracy on new messages {accuracy(model, make_messages(320, seed=8), tokenizer):.3f}")


if __name__ == "__main__":
    main()
