"""Recognizes promoters in DNA.

Half of the sequences carry a motif and a TATA box at a plausible distance, with a few
mutations; a convolution finds motifs and a bidirectional GRU their order."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

LENGTH = 240
SEQUENCES = 1152
TEST_SEQUENCES = 384
BATCH = 32
EPOCHS = 3
FILTERS = 48
HIDDEN = 48

MOTIF = np.array([2, 2, 0, 1, 1, 3, 2, 0, 1, 2])  # GGACCTGACG
TATA = np.array([3, 0, 3, 0, 0, 0, 0])  # TATAAAA


def plant(rng, sequence, motif, at):
    copy = motif.copy()
    changed = rng.random(len(copy)) < 0.04
    copy[changed] = rng.integers(0, 4, int(changed.sum()))
    sequence[at : at + len(copy)] = copy


def make_sequences(count, seed):
    """Bases as numbers 0 to 3 and labels."""
    rng = np.random.default_rng(seed)
    bases = rng.integers(0, 4, (count, LENGTH))
    labels = rng.integers(0, 2, count)
    for row in np.flatnonzero(labels):
        first = int(rng.integers(10, LENGTH // 2))
        plant(rng, bases[row], MOTIF, first)
        plant(rng, bases[row], TATA, first + int(rng.integers(25, 60)))
    return torch.from_numpy(bases), torch.from_numpy(labels)


class PromoterNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.motifs = nn.Conv1d(4, FILTERS, 9, padding=4)
        self.order = nn.GRU(FILTERS, HIDDEN, batch_first=True, bidirectional=True)
        self.head = nn.Sequential(nn.Linear(4 * HIDDEN, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, bases):
        letters = F.one_hot(bases, 4).transpose(1, 2).float()
        found = F.max_pool1d(F.relu(self.motifs(letters)), 4)
        states, last = self.order(found.transpose(1, 2))
        summary = torch.cat([states.amax(dim=1), last[0], last[1]], dim=1)
        return self.head(summary)


class Adder:
    """Weighted mean of a quantity."""

    def __init__(self):
        self.total = 0.0
        self.count = 0

    def add(self, value, count):
        self.total += value * count
        self.count += count

    @property
    def mean(self):
        return self.total / self.count


def reverse_complement(bases):
    """With A, C, G, T as 0 to 3 the complement of b is 3 - b."""
    return 3 - bases.flip(1)


def train(model, bases, labels):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(4)
    steps = EPOCHS * (len(bases) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=steps)
    model.train()
    for _ in range(EPOCHS):
        loss_mean = Adder()
        for rows in torch.randperm(len(bases), generator=generator).split(BATCH):
            loss = F.cross_entropy(model(bases[rows]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
            schedule.step()
            loss_mean.add(loss.item(), len(rows))
    return loss_mean.mean


def confusion(model, bases, labels):
    model.eval()
    with torch.inference_mode():
        guess = torch.cat([model(part).argmax(dim=1) for part in bases.split(128)])
    return torch.bincount(2 * labels + guess, minlength=4).view(2, 2)


def main():
    torch.manual_seed(77)
    torch.set_num_threads(1)
    bases, labels = make_sequences(SEQUENCES, seed=60)
    test_bases, test_labels = make_sequences(TEST_SEQUENCES, seed=61)
    model = PromoterNet()
    loss = train(model, bases, labels)
    table = confusion(model, test_bases, test_labels)
    mirrored = confusion(model, reverse_complement(test_bases), test_labels)
    accuracy = table.diagonal().sum().item() / TEST_SEQUENCES
    print(f"sequences {SEQUENCES}, last loss {loss:.4f}")
    print(f"accuracy {accuracy:.4f}, false alarms {table[0, 1].item()}, missed {table[1, 0].item()}")
    print(f"called promoters on the other strand {mirrored[:, 1].sum().item()}")


if __name__ == "__main__":
    main()
