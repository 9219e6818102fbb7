"""Two-tower matrix model with implicit feedback for song recommendation."""
import torch
from torch import nn
import torch.nn.functional as F

LISTENERS = 110_000
SONGS = 24_000
RANK = 32


def make_plays(count, seed):
    g = torch.Generator().manual_seed(seed)
    listener = (torch.rand(count, generator=g) ** 1.5 * LISTENERS).long()
    song = (torch.rand(count, generator=g) ** 2 * SONGS).long()
    liked = ((listener % 17 + song % 17) % 5 < 2).float()
    return listener, song, liked


class Taste(nn.Module):
    def __init__(self):
        super().__init__()
        self.listener = nn.Embedding(LISTENERS, RANK)
        self.song = nn.Embedding(SONGS, RANK)
        self.mix = nn.Sequential(nn.Linear(3 * RANK, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))
        for table in (self.listener, self.song):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, listener, song):
        a, b = self.listener(listener), self.song(song)
        return self.mix(torch.cat([a, b, a * b], dim=1)).squeeze(1)


class PlayStream:
    def __init__(self, plays, batch, seed):
        self.plays, self.batch = plays, batch
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        order = torch.randperm(len(self.plays[0]), generator=self.generator)
        for rows in order.split(self.batch):
            yield tuple(column[rows] for column in self.plays)


def fit(model, stream, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for epoch in range(epochs):
        total, batches = 0.0, 0
        for listener, song, liked in stream:
            loss = F.binary_cross_entropy_with_logits(model(listener, song), liked)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.item()
            batches += 1
        print(f"epoch {epoch} loss {total / batches:.4f}")


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Taste()
    stream = PlayStream(make_plays(300_000, 1), 512, 2)
    fit(model, stream, epochs=1)
    with torch.no_grad():
        score = model(torch.arange(100), torch.arange(100))
    print(f"mean score {score.mean().item():.3f}")


if __name__ == "__main__":
    main()
