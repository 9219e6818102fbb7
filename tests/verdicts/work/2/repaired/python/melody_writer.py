"""Trains briefly, then continues melodies with a small causal transformer."""
import torch
from torch import nn
import torch.nn.functional as F

NOTES = 64
WIDTH = 128
CONTEXT = 320


class Attention(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, past=None):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if past is not None and past:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        if past is not None:
            past[:] = [k, v]
        return self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention(4)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, past=None):
        x = x + self.attention(self.norm1(x), past)
        return x + self.mlp(self.norm2(x))


class MelodyModel(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.token = nn.Embedding(NOTES, WIDTH)
        self.place = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, NOTES)

    def forward(self, notes, past=None, start=0):
        x = self.token(notes) + self.place(torch.arange(start, start + notes.shape[1]))
        for i, block in enumerate(self.blocks):
            x = block(x, None if past is None else past[i])
        return self.head(self.norm(x))


def sample_tunes(count, length, generator):
    start = torch.randint(0, NOTES, (count, 1), generator=generator)
    stride = torch.randint(1, 6, (count, 1), generator=generator)
    beat = torch.arange(length)
    return (start + stride * beat + 7 * ((beat // 4) % 3)) % NOTES


def train(model, steps):
    g = torch.Generator().manual_seed(1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(steps):
        tunes = sample_tunes(16, 96, g)
        logits = model(tunes[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tunes[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def compose(model, opening, extra):
    notes = fresh = opening
    past = [[] for _ in model.blocks]
    for _ in range(extra):
        logits = model(fresh, past, notes.shape[1] - fresh.shape[1])[:, -1]
        fresh = logits.argmax(-1, keepdim=True)
        notes = torch.cat([notes, fresh], dim=1)
    return notes


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    model = MelodyModel()
    print(f"loss {train(model, 10):.3f}")
    model.eval()
    g = torch.Generator().manual_seed(2)
    pieces = []
    for _ in range(2):
        pieces.append(compose(model, sample_tunes(4, 24, g), 180))
    pieces = torch.cat(pieces)
    print("mean note", round(pieces.float().mean().item(), 3), "last", pieces[:, -1].tolist())


if __name__ == "__main__":
    main()
