"""Learns track embeddings from listening sessions (skip-gram with negatives).

Sessions are synthetic: every listener stays within a few genres and the
popularity of tracks follows a power law. Prints the loss and how well nearest
neighbours agree with the genres.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

NUM_TRACKS = 60_000
NUM_GENRES = 60
DIM = 48
BATCH = 512
NEGATIVES = 8
STEPS = 240
LR = 0.1


class SessionSampler:
    """Draws (track, context track, negatives) triples."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)
        per_genre = NUM_TRACKS // NUM_GENRES
        rank = torch.arange(1, per_genre + 1, dtype=torch.float64)
        weights = rank.pow(-0.9)
        self.cdf = torch.cumsum(weights, 0) / weights.sum()
        self.per_genre = per_genre

    def draw(self, shape, genre=None):
        u = torch.rand(shape, generator=self.gen, dtype=torch.float64)
        rank = torch.searchsorted(self.cdf, u).clamp_(max=self.per_genre - 1)
        if genre is None:
            genre = torch.randint(NUM_GENRES, shape, generator=self.gen)
        return rank * NUM_GENRES + genre

    def batch(self):
        genre = torch.randint(NUM_GENRES, (BATCH,), generator=self.gen)
        centre = self.draw((BATCH,), genre)
        other = torch.where(torch.rand(BATCH, generator=self.gen) < 0.85, genre,
                            torch.randint(NUM_GENRES, (BATCH,), generator=self.gen))
        context = self.draw((BATCH,), other)
        negative = self.draw((BATCH, NEGATIVES))
        return centre, context, negative


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.centre = nn.Embedding(NUM_TRACKS, DIM)
        self.context = nn.Embedding(NUM_TRACKS, DIM)
        nn.init.uniform_(self.centre.weight, -0.5 / DIM, 0.5 / DIM)
        nn.init.uniform_(self.context.weight, -0.5 / DIM, 0.5 / DIM)

    def forward(self, centre, context, negative):
        c = self.centre(centre)
        pos = (c * self.context(context)).sum(-1)
        neg = torch.bmm(self.context(negative), c.unsqueeze(-1)).squeeze(-1)
        return -(F.logsigmoid(pos) + F.logsigmoid(-neg).sum(-1)).mean()


@torch.no_grad()
def genre_precision(model, top=2000, k=10):
    """Share of the k nearest neighbours of popular tracks that have their genre."""
    vectors = F.normalize(model.centre.weight[:top], dim=1)
    sims = vectors @ vectors.T
    sims.fill_diagonal_(-1)
    nearest = sims.topk(k, dim=1).indices
    genre = torch.arange(top) % NUM_GENRES
    return (genre[nearest] == genre.unsqueeze(1)).float().mean().item()


def train():
    torch.manual_seed(3)
    model = SkipGram()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=LR)
    sampler = SessionSampler(seed=11)
    running, history = 0.0, []
    for step in range(1, STEPS + 1):
        centre, context, negative = sampler.batch()
        loss = model(centre, context, negative)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
        if step % 80 == 0:
            history.append(running / 80)
            running = 0.0
            print(f"step {step:5d}  loss {history[-1]:.3f}")
    return model, history


def main():
    model, history = train()
    precision = genre_precision(model)
    print(f"neighbours of the same genre: {precision:.3f} (chance {1 / NUM_GENRES:.3f})")
    assert history[-1] < history[0]


if __name__ == "__main__":
    main()
