"""Tags tokens of short clinical notes with a transformer encoder, batched by length."""
import random

import torch
from torch import nn
import torch.nn.functional as F

VOCABULARY = 2000
TAGS = 9
PAD = 0


def make_notes(count, seed):
    rng = random.Random(seed)
    notes = []
    for _ in range(count):
        length = rng.randint(8, 72)
        tokens = [rng.randrange(1, VOCABULARY) for _ in range(length)]
        tags = [(a * 7 + b) % TAGS for a, b in zip(tokens, [0] + tokens[:-1])]
        notes.append((torch.tensor(tokens), torch.tensor(tags)))
    return notes


def length_batches(notes, tokens_per_batch, rng):
    by_length = sorted(notes, key=lambda n: len(n[0]))
    batches, current = [], []
    for note in by_length:
        if current and len(note[0]) * (len(current) + 1) > tokens_per_batch:
            batches.append(current)
            current = []
        current.append(note)
    batches.append(current)
    rng.shuffle(batches)
    pad = nn.utils.rnn.pad_sequence
    return [(pad([t for t, _ in b], True, PAD), pad([g for _, g in b], True, -100)) for b in batches]


class Tagger(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, width, padding_idx=PAD)
        self.place = nn.Embedding(80, width)
        layer = nn.TransformerEncoderLayer(width, 4, 384, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.head = nn.Linear(width, TAGS)

    def forward(self, tokens):
        x = self.token(tokens) + self.place(torch.arange(tokens.shape[1]))
        return self.head(self.encoder(x, src_key_padding_mask=tokens == PAD))


def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)
    rng = random.Random(5)
    notes = make_notes(600, 7)
    model = Tagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(2):
        total, tokens_seen = 0.0, 0
        for tokens, tags in length_batches(notes, 2048, rng):
            logits = model(tokens)
            loss = F.cross_entropy(logits.flatten(0, 1), tags.flatten(), ignore_index=-100)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            real = int((tags >= 0).sum())
            total += loss.item() * real
            tokens_seen += real
        print(f"epoch {epoch} loss {total / tokens_seen:.3f}")


if __name__ == "__main__":
    main()
