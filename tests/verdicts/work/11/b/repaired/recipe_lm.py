"""Trains a small decoder-only language model on generated kitchen recipes.
For a later look at what it learns, the predictions after two fixed prompts are
written to disk as training goes on."""
import math
import os
import random
import tempfile

import torch
from torch import nn

VOCABULARY = 4000
CONTEXT = 96
BATCH = 10
WIDTH = 32
HEADS = 2
LAYERS = 2
STEPS = 58
PROMPTS = 2

VERBS = "chop slice fry boil bake stir whisk fold grate mash season drain simmer roast knead".split()
THINGS = "onion carrot flour butter egg rice bean tomato garlic pepper cream apple lemon potato cheese".split()
PLACES = "pan bowl pot oven tray dish".split()


def write_recipe(rng):
    words = []
    for _ in range(rng.randrange(4, 12)):
        thing = rng.choice(THINGS)
        words += [rng.choice(VERBS), "the", f"{thing}{rng.randrange(200)}", "in", "a", rng.choice(PLACES)]
        if rng.random() < 0.4:
            words += ["for", f"{rng.randrange(1, 60)}min"]
        words.append(".")
    return words + ["<end>"]


class Tokens:
    def __init__(self, words):
        counts = {}
        for word in words:
            counts[word] = counts.get(word, 0) + 1
        frequent = sorted(counts, key=lambda word: (-counts[word], word))[: VOCABULARY - 1]
        self.ids = {word: i + 1 for i, word in enumerate(frequent)}

    def encode(self, words):
        return torch.tensor([self.ids.get(word, 0) for word in words])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, WIDTH))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 3 * WIDTH), nn.GELU(), nn.Linear(3 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class RecipeModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        return self.head(self.norm(self.layers(x)))


class Diary:
    """Keeps a file per step and prompt with the prediction after the prompt."""

    def __init__(self, folder):
        self.folder = folder
        self.entries = 0

    def note(self, step, loss, logits):
        for row in range(PROMPTS):
            entry = {"step": step, "loss": loss, "prediction": logits[row, -1].detach().clone()}
            torch.save(entry, os.path.join(self.folder, f"{step:05d}-{row}.pt"))
            self.entries += 1

    def drift(self):
        """How far the last prompt's prediction moved from the first to the last step."""
        names = [name for name in sorted(os.listdir(self.folder)) if name.endswith(f"-{PROMPTS - 1}.pt")]
        first, last = (torch.load(os.path.join(self.folder, name)) for name in (names[0], names[-1]))
        a, b = first["prediction"].softmax(0), last["prediction"].softmax(0)
        return 0.5 * (a - b).abs().sum().item()


def batches(ids, prompts, generator):
    """Random windows of the text; the first rows always are the prompts."""
    while True:
        starts = torch.randint(0, len(ids) - CONTEXT - 1, (BATCH - len(prompts),), generator=generator).tolist()
        rows = torch.stack(prompts + [ids[s : s + CONTEXT + 1] for s in starts])
        yield rows[:, :-1], rows[:, 1:]


def train(model, ids, diary):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    prompts = [ids[start : start + CONTEXT + 1] for start in range(PROMPTS)]
    source = batches(ids, prompts, torch.Generator().manual_seed(2))
    losses = []
    for step in range(STEPS):
        inputs, targets = next(source)
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * min(1, (step + 1) / 10) * (0.55 + 0.45 * math.cos(math.pi * step / STEPS))
        logits = model(inputs)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        diary.note(step, losses[-1], logits)
    return losses


def main():
    torch.manual_seed(12)
    torch.set_num_threads(1)
    rng = random.Random(30)
    words = [word for _ in range(2500) for word in write_recipe(rng)]
    tokens = Tokens(words)
    model = RecipeModel()
    with tempfile.TemporaryDirectory() as folder:
        diary = Diary(folder)
        losses = train(model, tokens.encode(words), diary)
        drift = diary.drift()
    print(f"words {len(words)}, parameters {sum(p.numel() for p in model.parameters())}")
    print(f"loss {losses[0]:.3f} -> {sum(losses[-10:]) / 10:.3f}")
    print(f"diary entries {diary.entries}, drift {drift:.3f}")


if __name__ == "__main__":
    main()
