"""Fit a sentiment head on top of a pretrained review encoder."""
import torch
from torch import nn

VOCAB = 4000
WIDTH = 160
LENGTH = 48


class ReviewEncoder(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids):
        return self.norm(self.layers(self.embed(ids))).mean(dim=1)


class SentimentModel(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Sequential(nn.Linear(WIDTH, 64), nn.Tanh(), nn.Linear(64, 2))

    def forward(self, ids):
        return self.head(self.encoder(ids))


def load_pretrained():
    """Stands in for reading a checkpoint."""
    torch.manual_seed(10)
    encoder = ReviewEncoder()
    with torch.no_grad():
        encoder.embed.weight[:400, :40].add_(0.8)
    return encoder


def make_reviews(n, seed):
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(0, 2, (n,), generator=g)
    ids = torch.randint(400, VOCAB, (n, LENGTH), generator=g)
    praise = torch.randint(0, 400, (n, LENGTH), generator=g)
    take = torch.rand((n, LENGTH), generator=g) < (0.05 + 0.12 * label).unsqueeze(1)
    return torch.where(take, praise, ids), label


def batches(ids, label, size, seed):
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(seed))
    for idx in order.split(size):
        yield ids[idx], label[idx]


def build_model():
    model = SentimentModel(load_pretrained().requires_grad_(False))
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=2e-3)
    return model, optimizer


def train(model, optimizer, ids, label, epochs):
    criterion = nn.CrossEntropyLoss()
    losses = []
    for epoch in range(epochs):
        model.train()
        for x, y in batches(ids, label, 32, seed=epoch):
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.head.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.detach())
    return torch.stack(losses)


@torch.no_grad()
def accuracy(model, ids, label):
    model.eval()
    right = 0
    for x, y in zip(ids.split(128), label.split(128)):
        right += int((model(x).argmax(dim=1) == y).sum())
    return right / len(ids)


def main():
    model, optimizer = build_model()
    ids, label = make_reviews(640, seed=1)
    held_ids, held_label = make_reviews(240, seed=2)
    losses = train(model, optimizer, ids, label, epochs=3)
    print(f"loss {losses[-10:].mean():.4f} accuracy {accuracy(model, held_ids, held_label):.4f}")


if __name__ == "__main__":
    main()
