"""Trains a small transformer that tags product mentions in support messages.

The corpus is synthetic: a template grammar with a few thousand words, in which
product names, versions and order numbers carry the labels.
"""
import math
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

MAX_TOKENS = 96
PAD = 0
IGNORE = -100
LABELS = ["O", "B-PROD", "I-PROD", "B-VER", "B-ORDER"]


class Vocab:
    def __init__(self):
        self.index = {"<pad>": PAD, "<unk>": 1}

    def add(self, word):
        return self.index.setdefault(word, len(self.index))

    def __len__(self):
        return len(self.index)


def make_messages(count, rng):
    fillers = ["w%d" % i for i in range(1500)]
    makers = ["maker%d" % i for i in range(60)]
    models = ["model%d" % i for i in range(200)]
    out = []
    for _ in range(count):
        words, labels = [], []

        def say(word, label):
            words.append(word)
            labels.append(label)

        length = min(3 + int(rng.expovariate(1 / 9.0)), MAX_TOKENS - 10)
        while len(words) < length:
            kind = rng.random()
            if kind < 0.72:
                say(rng.choice(fillers), "O")
            elif kind < 0.86:
                say(rng.choice(makers), "B-PROD")
                say(rng.choice(models), "I-PROD")
                if rng.random() < 0.5:
                    say("v%d" % rng.randrange(30), "B-VER")
            elif kind < 0.94:
                say("order", "O")
                say("n%d" % rng.randrange(500), "B-ORDER")
            else:
                say("n%d" % rng.randrange(500), "O")
        out.append((words, labels))
    return out


class MessageDataset(Dataset):
    def __init__(self, messages, vocab):
        self.items = [
            (
                torch.tensor([vocab.add(w) for w in words]),
                torch.tensor([LABELS.index(l) for l in labels]),
            )
            for words, labels in messages
        ]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    tokens = torch.full((len(batch), MAX_TOKENS), PAD)
    labels = torch.full((len(batch), MAX_TOKENS), IGNORE)
    for row, (t, l) in enumerate(batch):
        tokens[row, : len(t)] = t
        labels[row, : len(l)] = l
    return tokens, labels


class Tagger(nn.Module):
    def __init__(self, vocab_size, dim=96, heads=4, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=PAD)
        self.register_buffer("position", self.sinusoids(MAX_TOKENS, dim))
        layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(dim, len(LABELS))

    @staticmethod
    def sinusoids(length, dim):
        t = torch.arange(length).unsqueeze(1)
        freq = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        table = torch.zeros(length, dim)
        table[:, 0::2] = torch.sin(t * freq)
        table[:, 1::2] = torch.cos(t * freq)
        return table

    def forward(self, tokens):
        x = self.embed(tokens) * 4.0 + self.position[: tokens.shape[1]]
        x = self.encoder(x, src_key_padding_mask=tokens == PAD)
        return self.head(x)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hit = found = wanted = total = right = 0
    for tokens, labels in loader:
        guess = model(tokens).argmax(-1)
        keep = labels != IGNORE
        total += keep.sum()
        right += ((guess == labels) & keep).sum()
        wanted += ((labels > 0) & keep).sum()
        found += ((guess > 0) & keep).sum()
        hit += ((guess == labels) & (labels > 0) & keep).sum()
    model.train()
    precision, recall = hit / found.clamp(min=1), hit / wanted.clamp(min=1)
    return float(right / total), float(2 * precision * recall / (precision + recall).clamp(min=1e-9))


def main():
    torch.manual_seed(5)
    rng = random.Random(5)
    vocab = Vocab()
    train = MessageDataset(make_messages(1500, rng), vocab)
    valid = MessageDataset(make_messages(500, rng), vocab)
    order = torch.Generator().manual_seed(17)
    train_loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate, generator=order)
    valid_loader = DataLoader(valid, batch_size=64, collate_fn=collate)

    model = Tagger(len(vocab))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_fn = nn.CrossEntropyLoss(ignore_index=IGNORE)
    for epoch in range(2):
        total = torch.zeros(())
        for tokens, labels in train_loader:
            logits = model(tokens)
            loss = loss_fn(logits.flatten(0, 1), labels.flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        accuracy, f1 = evaluate(model, valid_loader)
        print(f"epoch {epoch} loss {float(total) / len(train_loader):.2f} accuracy {accuracy:.2f} f1 {f1:.2f}")
    print("words", len(vocab), "parameters", sum(p.numel() for p in model.parameters()))


if __name__ == "__main__":
    main()
