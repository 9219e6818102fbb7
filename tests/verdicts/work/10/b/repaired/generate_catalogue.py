"""Writes product blurbs with a small recurrent language model: trains briefly on
templated text and then samples a batch of long texts with n-gram blocking,
temperature and nucleus filtering."""
import random

import torch
from torch import nn

NGRAM = 4
PROMPTS = 30
LENGTH = 800
STOI: dict[str, int] = {}


def corpus(seed: int, sentences: int) -> list[str]:
    rng = random.Random(seed)
    adjectives = "light sturdy compact silent modern classic soft bright durable slim".split()
    nouns = "lamp chair kettle backpack jacket bicycle speaker notebook mirror table".split()
    verbs = "fits brightens carries protects completes replaces improves warms".split()
    places = "kitchen office garden hallway studio train beach workshop".split()
    words: list[str] = []
    for _ in range(sentences):
        words += ["this", rng.choice(adjectives), rng.choice(nouns), rng.choice(verbs), "your",
                  rng.choice(places)]
        if rng.random() < 0.5:
            words += ["and", "the", rng.choice(places), rng.choice(["too", "as", "well"])]
        words.append(".")
    return words


class WordModel(nn.Module):
    def __init__(self, vocab: int, width: int = 96, hidden: int = 128):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, tokens, state=None):
        h, state = self.rnn(self.embed(tokens), state)
        return self.out(h), state


class NgramBlocker:
    """Forbids tokens that would complete an n-gram the text already has."""

    def __init__(self, n: int, batch: int):
        self.n = n
        self.batch = batch
        self.tokens: list[list[int]] = [[] for _ in range(batch)]
        self.seen: list[dict[tuple, list[int]]] = [{} for _ in range(batch)]

    def apply(self, history: torch.Tensor, logits: torch.Tensor) -> None:
        known = len(self.tokens[0])
        fresh = history[:, known:].tolist()
        for row in range(self.batch):
            tokens, seen = self.tokens[row], self.seen[row]
            for token in fresh[row]:
                if len(tokens) >= self.n - 1:
                    seen.setdefault(tuple(tokens[-(self.n - 1):]), []).append(token)
                tokens.append(token)
            banned = seen.get(tuple(tokens[-(self.n - 1):]))
            if banned:
                logits[row, banned] = -1e9


def nucleus(probs: torch.Tensor, mass: float) -> torch.Tensor:
    ordered, index = probs.sort(dim=-1, descending=True)
    keep = ordered.cumsum(-1) - ordered < mass
    kept = torch.where(keep, ordered, torch.zeros(()))
    out = torch.zeros_like(probs).scatter(-1, index, kept)
    return out / out.sum(-1, keepdim=True)


def train(model: WordModel, data: torch.Tensor, steps: int) -> float:
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    generator = torch.Generator().manual_seed(3)
    loss = torch.zeros(())
    for _ in range(steps):
        start = torch.randint(0, len(data) - 33, (24,), generator=generator)
        window = data[start[:, None] + torch.arange(33)]
        logits, _ = model(window[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss.item()


@torch.inference_mode()
def generate(model: WordModel, prompts: torch.Tensor, length: int, temperature: float = 1.1) -> torch.Tensor:
    model.eval()
    generator = torch.Generator().manual_seed(9)
    batch, start = prompts.shape
    history = torch.zeros(batch, start + length, dtype=torch.long)
    history[:, :start] = prompts
    blocker = NgramBlocker(NGRAM, batch)
    logits, state = model(prompts)
    for t in range(start, start + length):
        scores = logits[:, -1] / temperature
        blocker.apply(history[:, :t], scores)
        probs = nucleus(scores.softmax(-1), 0.95)
        token = torch.multinomial(probs, 1, generator=generator)
        history[:, t] = token[:, 0]
        logits, state = model(token, state)
    return history


def distinct(history: torch.Tensor, n: int) -> float:
    total = unique = 0
    for row in history.tolist():
        grams = [tuple(row[i:i + n]) for i in range(len(row) - n + 1)]
        total += len(grams)
        unique += len(set(grams))
    return unique / total


def main() -> None:
    torch.manual_seed(1)
    words = corpus(seed=2, sentences=4000)
    for w in words:
        STOI.setdefault(w, len(STOI))
    itos = list(STOI)
    data = torch.tensor([STOI[w] for w in words])
    model = WordModel(len(STOI))
    loss = train(model, data, steps=40)
    prompts = data[: PROMPTS * 6].view(PROMPTS, 6)
    texts = generate(model, prompts, LENGTH)
    print(f"vocabulary {len(STOI)}, training loss {loss:.3f}")
    print(f"generated {texts.numel()} tokens, distinct-{NGRAM} {distinct(texts, NGRAM):.4f}")
    print(" ".join(itos[i] for i in texts[0, :24].tolist()))


if __name__ == "__main__":
    main()
