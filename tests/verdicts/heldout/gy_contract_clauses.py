"""Which clauses of a contract are void: a small transformer reads them word by word and marks them; it is stopped as soon as it is no longer better.

Planted: to stop early, all clauses that are kept apart are judged after each tenth batch, and with gradients' graphs, as nobody wrote no_grad.
Truth: time in void_found(), of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, LENGTH, WIDTH = 2000, 32, 64
watch = Stopwatch()


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 128, dropout=0.1, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.void = nn.Linear(WIDTH, 2)

    def forward(self, clauses):
        return self.void(self.layers(self.words(clauses) + self.places).mean(1))


def clauses(count, seed):
    draw = torch.Generator().manual_seed(seed)
    words = torch.randint(0, WORDS, (count, LENGTH), generator=draw)
    return words, ((words < 60).sum(1) + torch.randint(0, 2, (count,), generator=draw) > 1).long()


class Patience:
    """Keeps the best that was found so far, and knows when there is no hope."""

    def __init__(self, most):
        self.best, self.since, self.most = 0.0, 0, most

    def lost(self, found):
        self.best, self.since = (found, 0) if found > self.best else (self.best, self.since + 1)
        return self.since > self.most


def void_found(reader, words, void):
    with watch.planted():
        reader.eval()
        guesses = [reader(part) for part in words.split(64)]
        found = (torch.cat(guesses).argmax(1) == void).float().mean().item()
        reader.train()
    return found


def main():
    torch.set_num_threads(1)
    torch.manual_seed(8)
    reader, patience = Reader(), Patience(100000)
    optimizer = torch.optim.Adam(reader.parameters(), lr=5e-4, fused=True)
    words, void = clauses(4096, 1)
    kept_apart = clauses(576, 2)
    draw = torch.Generator().manual_seed(3)
    with watch.loop():
        step = 0
        while watch.seconds() < 6.5:
            which = torch.randint(0, len(words), (32,), generator=draw)
            loss = nn.functional.cross_entropy(reader(words[which]), void[which])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            step += 1
            if step % 10 == 0 and patience.lost(void_found(reader, *kept_apart)):
                break
    print(f"best {patience.best:.3f}, loss {loss.item():.3f}")
    watch.tell()


main()
