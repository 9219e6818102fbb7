"""Trains a BiLSTM tagger that splits free-form postal addresses into fields.

Batches hold addresses of similar length; the sequences are packed, and the
loss ignores padding.
"""
import random
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler

FIELDS = ["other", "name", "street", "number", "postcode", "city", "country"]
ALPHABET = "\0abcdefghijklmnopqrstuvwxyz0123456789 ,.-/"
CHAR = {c: i for i, c in enumerate(ALPHABET)}
TRAIN, TEST = 960, 240
EPOCHS = 3
BATCH = 32
IGNORE = -100

SYLLABLES = ["ber", "lin", "ham", "ton", "sta", "dt", "burg", "mar", "ves", "tra", "hol", "wijk", "ny", "koo", "lia"]
STREETS = ["street", "road", "lane", "strasse", "weg", "rue", "avenue", "allee", "straat"]
COUNTRIES = ["germany", "france", "netherlands", "england", "belgium", "austria"]
NOISE = ["c/o", "floor 2", "po box", "attn", "building b"]


def word(rng, parts):
    return "".join(rng.choice(SYLLABLES) for _ in range(parts))


def make_address(rng):
    """A list of (text, field) in one of a few national orders."""
    name = (f"{word(rng, 2)} {word(rng, 2)}", "name")
    street = (f"{word(rng, rng.randint(2, 3))} {rng.choice(STREETS)}", "street")
    number = (f"{rng.randint(1, 250)}{rng.choice(['', 'a', '-2', '/3'])}", "number")
    postcode = (str(rng.randint(10000, 99999)), "postcode")
    city = (word(rng, rng.randint(2, 3)), "city")
    country = (rng.choice(COUNTRIES), "country")
    style = rng.random()
    if style < 0.4:
        parts = [name, street, number, postcode, city, country]
    elif style < 0.7:
        parts = [name, number, street, city, postcode, country]
    else:
        parts = [street, number, city, postcode]
    if rng.random() < 0.25:
        parts.insert(rng.randrange(len(parts)), (rng.choice(NOISE), "other"))
    return parts


def encode(parts, rng):
    chars, tags = [], []
    for i, (text, field) in enumerate(parts):
        if i:
            gap = rng.choice([", ", " ", " - "])
            chars += [CHAR[c] for c in gap]
            tags += [0] * len(gap)
        chars += [CHAR[c] for c in text]
        tags += [FIELDS.index(field)] * len(text)
    return torch.tensor(chars), torch.tensor(tags)


class Addresses(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.samples = [encode(make_address(rng), rng) for _ in range(n)]
        self.lengths = [len(c) for c, _ in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]


class LengthBatches(Sampler):
    """Shuffled batches of neighbours in length."""

    def __init__(self, lengths, size, seed):
        self.lengths, self.size = lengths, size
        self.rng = random.Random(seed)

    def __len__(self):
        return -(-len(self.lengths) // self.size)

    def __iter__(self):
        jitter = [n + self.rng.random() * 6 for n in self.lengths]
        order = sorted(range(len(jitter)), key=jitter.__getitem__)
        batches = [order[i : i + self.size] for i in range(0, len(order), self.size)]
        self.rng.shuffle(batches)
        return iter(batches)


@dataclass
class Batch:
    chars: torch.Tensor
    lengths: torch.Tensor
    tags: torch.Tensor


def collate(samples):
    samples.sort(key=lambda s: -len(s[0]))
    chars, tags = zip(*samples)
    return Batch(
        pad_sequence(chars, batch_first=True),
        torch.tensor([len(c) for c in chars]),
        pad_sequence(tags, batch_first=True, padding_value=IGNORE),
    )


class Tagger(nn.Module):
    def __init__(self, hidden=80):
        super().__init__()
        self.embed = nn.Embedding(len(ALPHABET), 32, padding_idx=0)
        self.lstm = nn.LSTM(32, hidden, bidirectional=True, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(2 * hidden, len(FIELDS))

    def forward(self, batch):
        packed = pack_padded_sequence(self.embed(batch.chars), batch.lengths, batch_first=True)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(self.drop(states))


def train(model, loader):
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, total_steps=EPOCHS * len(loader))
    loss_of = nn.CrossEntropyLoss(ignore_index=IGNORE)
    for epoch in range(EPOCHS):
        model.train()
        total = torch.zeros(())
        for batch in loader:
            loss = loss_of(model(batch).flatten(0, 1), batch.tags.flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.detach()
        print(f"epoch {epoch + 1}: loss {total.item() / len(loader):.4f}")


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    size = len(FIELDS)
    confusion = torch.zeros(size * size, dtype=torch.long)
    whole = addresses = 0
    for batch in loader:
        guess = model(batch).argmax(dim=2)
        valid = batch.tags != IGNORE
        confusion += torch.bincount(batch.tags[valid] * size + guess[valid], minlength=size * size)
        whole += int(((guess == batch.tags) | ~valid).all(dim=1).sum())
        addresses += len(guess)
    return confusion.view(size, size), whole / addresses


def main():
    torch.manual_seed(6)
    train_set, test_set = Addresses(TRAIN, 1), Addresses(TEST, 2)
    train_loader = DataLoader(train_set, batch_sampler=LengthBatches(train_set.lengths, BATCH, 3), collate_fn=collate)
    test_loader = DataLoader(test_set, batch_size=100, collate_fn=collate)
    model = Tagger()
    train(model, train_loader)
    confusion, exact = evaluate(model, test_loader)
    hit = confusion.diagonal().double()
    f1 = 2 * hit / (confusion.sum(0) + confusion.sum(1)).clamp(min=1)
    print(f"characters right {(hit.sum() / confusion.sum()).item():.3f}, whole addresses {exact:.3f}")
    print("F1:", ", ".join(f"{f} {v:.2f}" for f, v in zip(FIELDS, f1.tolist())))


if __name__ == "__main__":
    main()
