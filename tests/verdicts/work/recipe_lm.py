"""Character language model on generated recipe sentences: a small causal transformer."""
import json
import random
import time

import torch
from torch import nn

torch.set_num_threads(1)
CONTEXT, WIDTH, HEADS, DEPTH, BATCH, STEPS = 64, 96, 4, 2, 24, 90


def make_corpus(sentences, seed):
    rnd = random.Random(seed)
    verbs = "chop fry simmer bake whisk fold grate roast boil season".split()
    things = "onions carrots garlic rice lentils peppers butter flour eggs tomatoes".split()
    how = ["until golden", "for ten minutes", "over a low heat", "with salt", "in olive oil", "and set aside"]
    return " ".join(f"{rnd.choice(verbs)} the {rnd.choice(things)} {rnd.choice(how)}." for _ in range(sentences))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.n2(x))


class RecipeLM(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.tok = nn.Embedding(vocab, WIDTH)
        self.pos = nn.Parameter(torch.randn(CONTEXT, WIDTH) * 0.02)
        self.blocks = nn.Sequential(*(Block() for _ in range(DEPTH)))
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, vocab)

    def forward(self, ids):
        h = self.tok(ids) + self.pos[:ids.shape[1]]
        return self.out(self.norm(self.blocks(h)))


@torch.inference_mode()
def write(net, start, count, letters):
    ids = torch.tensor([[letters.index(c) for c in start]])
    for _ in range(count):
        probs = net(ids[:, -CONTEXT:])[:, -1].softmax(-1)
        ids = torch.cat([ids, torch.multinomial(probs, 1)], 1)
    return "".join(letters[i] for i in ids[0].tolist())


def main():
    torch.manual_seed(21)
    text = make_corpus(1500, 3)
    letters = sorted(set(text))
    table = {c: i for i, c in enumerate(letters)}
    ids = torch.tensor([table[c] for c in text])
    window = torch.arange(CONTEXT + 1)
    net = RecipeLM(len(letters))
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 4e-3, total_steps=STEPS, pct_start=0.2)
    begin = time.perf_counter()
    for step in range(STEPS):
        at = torch.randint(0, len(ids) - CONTEXT - 1, (BATCH, 1))
        chunk = ids[at + window]
        logits = net(chunk[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        sched.step()
        if step % 30 == 29:
            print(f"step {step + 1}  loss {loss.item():.4f}  bits/char {loss.item() / 0.6931:.3f}")
    total = time.perf_counter() - begin
    print("sample:", write(net, "chop the ", 40, letters))
    print("TRUTH", json.dumps({"share": 0, "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
