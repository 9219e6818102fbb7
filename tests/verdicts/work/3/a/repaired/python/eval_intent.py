"""Scores a saved intent classifier on a held-out set and prints the report."""
import io
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

VOCAB = 4000
LENGTH = 24
INTENTS = ["greet", "order", "cancel", "refund", "status", "agent", "hours", "other"]


class Utterances(Dataset):
    """Token ids, padded to a fixed length, with the intent label."""

    def __init__(self, count, seed):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, len(INTENTS), (count,), generator=g)
        self.tokens = torch.randint(1, VOCAB, (count, LENGTH), generator=g)
        marker = torch.rand(count, LENGTH, generator=g) < 0.25
        topical = 1 + self.labels.unsqueeze(1) * 40 + torch.randint(0, 40, (count, LENGTH), generator=g)
        self.tokens[marker] = topical[marker]
        lengths = torch.randint(6, LENGTH + 1, (count,), generator=g)
        self.tokens[torch.arange(LENGTH).unsqueeze(0) >= lengths.unsqueeze(1)] = 0

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.tokens[i], self.labels[i]


class IntentModel(nn.Module):
    def __init__(self, dim=32, heads=2, layers=2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=0)
        position = torch.arange(LENGTH).unsqueeze(1) * torch.exp(torch.arange(0, dim, 2) * (-math.log(1e4) / dim))
        self.register_buffer("position", torch.cat([position.sin(), position.cos()], dim=1) * 0.3)
        block = nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.head = nn.Linear(dim, len(INTENTS))

    def forward(self, tokens):
        pad = tokens == 0
        x = self.encoder(self.embed(tokens) + self.position, src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(2).float()
        return self.head((x * keep).sum(1) / keep.sum(1))


def fit(model, data, steps):
    g = torch.Generator().manual_seed(5)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for _ in range(steps):
        pick = torch.randint(0, len(data), (32,), generator=g)
        loss = nn.functional.cross_entropy(model(data.tokens[pick]), data.labels[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def saved_checkpoint():
    torch.manual_seed(7)
    model = IntentModel()
    fit(model, Utterances(3000, seed=21), steps=40)
    blob = io.BytesIO()
    torch.save(model.state_dict(), blob)
    blob.seek(0)
    return blob


def load_model(blob):
    model = IntentModel()
    model.load_state_dict(torch.load(blob))
    return model.eval()


def predict(model, dataset):
    loader = DataLoader(dataset, batch_size=128, shuffle=False)
    scores, labels = [], []
    with torch.inference_mode():
        for tokens, label in loader:
            scores.append(model(tokens).softmax(dim=1))
            labels.append(label)
    return torch.cat(scores), torch.cat(labels)


def report(scores, labels):
    guess = scores.argmax(1)
    confusion = torch.zeros(len(INTENTS), len(INTENTS), dtype=torch.long)
    confusion.index_put_((labels, guess), torch.ones_like(labels), accumulate=True)
    for k, name in enumerate(INTENTS):
        hit = confusion[k, k].item()
        precision = hit / max(1, confusion[:, k].sum().item())
        recall = hit / max(1, confusion[k].sum().item())
        print(f"{name:8s} precision {precision:.3f} recall {recall:.3f}")
    loss = nn.functional.nll_loss(scores.log(), labels).item()
    print(f"accuracy {(guess == labels).float().mean().item():.4f} loss {loss:.3f}")


def main():
    model = load_model(saved_checkpoint())
    scores, labels = predict(model, Utterances(8000, seed=22))
    report(scores, labels)


if __name__ == "__main__":
    main()
