"""Character-level language model on a generated phrase corpus."""
import math
import random

import torch
from torch import nn

WIDTH = 96
CONTEXT = 64


def build_corpus(sentences, seed):
    rng = random.Random(seed)
    subjects = ("the miller", "a heron", "our captain", "the night train", "one old clerk")
    verbs = ("crosses", "forgets", "repairs", "follows", "hides behind")
    objects = ("the river", "a red door", "its shadow", "seven lanterns", "the market")
    ends = (".", ".", "!", " at dawn.", " again.")
    return " ".join(f"{rng.choice(subjects)} {rng.choice(verbs)} {rng.choice(objects)}{rng.choice(ends)}"
                    for _ in range(sentences))


class Vocabulary:
    def __init__(self, text):
        self.chars = sorted(set(text))
        self.index = {c: i for i, c in enumerate(self.chars)}

    def encode(self, text):
        return torch.tensor([self.index[c] for c in text])

    def decode(self, ids):
        return "".join(self.chars[i] for i in ids)

    def __len__(self):
        return len(self.chars)


class CharModel(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.embed = nn.Embedding(vocab, WIDTH)
        self.rnn = nn.GRU(WIDTH, WIDTH, num_layers=1, batch_first=True)
        self.head = nn.Linear(WIDTH, vocab)

    def forward(self, ids, state=None):
        out, state = self.rnn(self.embed(ids), state)
        return self.head(out), state


class WindowSampler:
    """Draws whole batches of windows with one gather."""

    def __init__(self, data, batch, seed):
        self.data = data
        self.batch = batch
        self.gen = torch.Generator().manual_seed(seed)
        self.offsets = torch.arange(CONTEXT + 1)

    def draw(self):
        start = torch.randint(0, len(self.data) - CONTEXT - 1, (self.batch, 1), generator=self.gen)
        window = self.data[start + self.offsets]
        return window[:, :-1], window[:, 1:]


def train(model, sampler, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    criterion = nn.CrossEntropyLoss()
    running, log = torch.zeros(()), []
    for step in range(1, steps + 1):
        x, y = sampler.draw()
        logits, _ = model(x)
        loss = criterion(logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        running += loss.detach()
        if step % 30 == 0:
            log.append(running.item() / 30)
            running.zero_()
    return log


@torch.inference_mode()
def bits_per_char(model, data):
    n = (len(data) - 1) // CONTEXT * CONTEXT
    x, y = data[:n].view(-1, CONTEXT), data[1:n + 1].view(-1, CONTEXT)
    logits, _ = model(x)
    return nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten()).item() / math.log(2)


@torch.inference_mode()
def sample(model, vocab, prompt, length):
    ids = vocab.encode(prompt).unsqueeze(0)
    logits, state = model(ids)
    out = []
    for _ in range(length):
        nxt = logits[:, -1].argmax(dim=-1, keepdim=True)
        out.append(int(nxt))
        logits, state = model(nxt, state)
    return prompt + vocab.decode(out)


def main():
    torch.manual_seed(1)
    text = build_corpus(2500, seed=2)
    vocab = Vocabulary(text)
    data = vocab.encode(text)
    cut = len(data) * 9 // 10
    model = CharModel(len(vocab))
    log = train(model, WindowSampler(data[:cut], 48, seed=3), steps=120)
    print(f"loss {log[-1]:.3f} bits {bits_per_char(model, data[cut:]):.3f}")
    print(sample(model, vocab, "the ", 40))


if __name__ == "__main__":
    main()
