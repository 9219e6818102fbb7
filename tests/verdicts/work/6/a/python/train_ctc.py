"""Keyword-transcription model for the call centre: convolutional encoder over
log-mel frames, CTC loss, greedy decoding; prints the label error rate."""
import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler

MELS, VOCAB, CHANNELS = 32, 20, 96
UTTERANCES, BATCH, EPOCHS = 256, 16, 2


def synthesize(n, seed):
    """Utterances: each label is a spectral shape held for some frames.  Most
    calls are short; a few customers talk on."""
    gen = torch.Generator().manual_seed(seed)
    rng = random.Random(seed)
    shapes = torch.randn(VOCAB, MELS, generator=torch.Generator().manual_seed(99))
    out = []
    for k in range(n):
        count = rng.randint(4, 12) if k % 53 else rng.randint(45, 60)
        labels = [rng.randint(1, VOCAB - 1) for _ in range(count)]
        frames = []
        for label in labels:
            frames += [label] * rng.randint(6, 12) + [0] * rng.randint(2, 5)
        x = shapes[torch.tensor(frames)].clone()
        x[torch.tensor(frames) == 0] = 0
        out.append((x + 0.6 * torch.randn(x.shape, generator=gen), torch.tensor(labels)))
    return out


class Calls(Dataset):
    def __init__(self, utterances):
        self.items = utterances
        self.longest = max(len(x) for x, _ in utterances)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def collate(self, batch):
        lengths = torch.tensor([len(x) for x, _ in batch])
        feats = torch.zeros(len(batch), MELS, self.longest)
        for row, (x, _) in zip(feats, batch):
            row[:, :len(x)] = x.T
        targets = torch.cat([y for _, y in batch])
        target_lengths = torch.tensor([len(y) for _, y in batch])
        return feats, lengths, targets, target_lengths


class LengthBuckets(Sampler):
    """Batches of utterances of similar length, in a shuffled order."""

    def __init__(self, lengths, batch, seed):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[i:i + batch] for i in range(0, len(order), batch)]
        self.rng = random.Random(seed)

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        batches = list(self.batches)
        self.rng.shuffle(batches)
        return iter(batches)


class ChannelNorm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm = nn.LayerNorm(c)

    def forward(self, x):
        return self.norm(x.transpose(1, 2)).transpose(1, 2)


class Block(nn.Module):
    def __init__(self, c, dilation):
        super().__init__()
        self.depth = nn.Conv1d(c, c, 7, padding=3 * dilation, dilation=dilation, groups=c)
        self.norm = ChannelNorm(c)
        self.up = nn.Conv1d(c, 2 * c, 1)
        self.down = nn.Conv1d(2 * c, c, 1)

    def forward(self, x, mask):
        y = self.norm(self.depth(x * mask))
        return x + self.down(F.gelu(self.up(y)))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv1d(MELS, CHANNELS, 5, padding=2, stride=2)
        self.blocks = nn.ModuleList(Block(CHANNELS, d) for d in (1, 2, 1, 2))
        self.head = nn.Conv1d(CHANNELS, VOCAB, 1)

    def forward(self, feats, lengths):
        x = self.stem(feats)
        lengths = (lengths + 1) // 2
        mask = (torch.arange(x.shape[2])[None, :] < lengths[:, None])[:, None, :].to(x.dtype)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x).permute(2, 0, 1).log_softmax(-1), lengths


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diag, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diag, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diag + (x != y))
    return row[-1]


@torch.inference_mode()
def error_rate(model, loader):
    wrong = total = 0
    for feats, lengths, targets, target_lengths in loader:
        logp, out_lengths = model(feats, lengths)
        best = logp.argmax(-1).T.tolist()
        refs = [t.tolist() for t in targets.split(target_lengths.tolist())]
        for path, n, ref in zip(best, out_lengths.tolist(), refs):
            hyp = [p for k, p in enumerate(path[:n]) if p and (k == 0 or p != path[k - 1])]
            wrong += edit_distance(hyp, ref)
            total += len(ref)
    return wrong / total


def main():
    torch.manual_seed(1)
    train_set, test_set = Calls(synthesize(UTTERANCES, 11)), Calls(synthesize(48, 12))
    train = DataLoader(train_set, batch_sampler=LengthBuckets([len(x) for x, _ in train_set.items], BATCH, 3),
                       collate_fn=train_set.collate)
    test = DataLoader(test_set, batch_sampler=LengthBuckets([len(x) for x, _ in test_set.items], BATCH, 4),
                      collate_fn=test_set.collate)
    model = Encoder()
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for epoch in range(EPOCHS):
        total = torch.zeros(())
        for feats, lengths, targets, target_lengths in train:
            logp, out_lengths = model(feats, lengths)
            loss = F.ctc_loss(logp, targets, out_lengths, target_lengths, zero_infinity=True)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            total += loss.detach()
        print(f"epoch {epoch} loss {float(total) / len(train):.3f}", flush=True)
    print(f"label error rate {error_rate(model, test):.3f}")


if __name__ == "__main__":
    main()
