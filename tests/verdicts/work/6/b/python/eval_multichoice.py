"""Zero-shot multiple-choice evaluation of a small causal language model.

Every question is a context with four candidate answers.  The model scores each
candidate by the log-likelihood of its tokens after the context; the reported
metrics are accuracy, length-normalised accuracy and the calibration error.
"""
import math
import random

import torch
from torch import nn
from torch.nn import functional as F

VOCAB = 16384
WIDTH = 128
HEADS = 4
LAYERS = 3
CONTEXT = 112
QUESTIONS = 108
BATCH = 16


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, WIDTH))
        return x + self.mlp(self.norm2(x))


class CausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCAB, WIDTH)
        self.position = nn.Embedding(CONTEXT + 32, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)
        self.head.weight = self.token.weight

    def hidden(self, tokens):
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.norm(x)

    def forward(self, tokens):
        return self.head(self.hidden(tokens))


def make_questions(rng):
    """Contexts follow a sparse first-order process; one answer continues it."""
    successor = list(range(VOCAB))
    rng.shuffle(successor)
    questions = []
    for _ in range(QUESTIONS):
        n = rng.randint(CONTEXT // 2, CONTEXT)
        token = rng.randrange(1, VOCAB)
        context = [token]
        while len(context) < n:
            token = successor[token] if rng.random() < 0.8 else rng.randrange(1, VOCAB)
            context.append(token)
        answers = []
        for _ in range(4):
            answers.append([rng.randrange(1, VOCAB) for _ in range(rng.randint(2, 6))])
        gold = rng.randrange(4)
        chain = [successor[context[-1]]]
        while len(chain) < len(answers[gold]):
            chain.append(successor[chain[-1]])
        answers[gold] = chain
        questions.append((context, answers, gold))
    return questions, successor


def plant_bigrams(model, successor):
    """Gives the tied embeddings a bias towards the process of the task."""
    with torch.no_grad():
        w = model.token.weight
        w.mul_(0.25)
        order = torch.tensor(successor)
        w[order[: VOCAB // 2]] += 0.6 * w[: VOCAB // 2]


def batches(questions):
    rows = []
    for q, (context, answers, _) in enumerate(questions):
        for a, answer in enumerate(answers):
            rows.append((q, a, context, answer))
    rows.sort(key=lambda r: len(r[2]) + len(r[3]))
    for i in range(0, len(rows), BATCH):
        yield rows[i:i + BATCH]


def score_batch(model, rows):
    """Log-likelihood of each row's answer after its context."""
    longest = max(len(c) + len(a) for _, _, c, a in rows)
    tokens = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros(len(rows), longest - 1, dtype=torch.bool)
    for i, (_, _, context, answer) in enumerate(rows):
        n = len(context) + len(answer)
        tokens[i, :n] = torch.tensor(context + answer)
        mask[i, len(context) - 1:n - 1] = True
    logp = F.log_softmax(model(tokens[:, :-1]), dim=-1)
    picked = logp.gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)
    return (picked * mask).sum(dim=1)


def expected_calibration_error(confidence, correct, bins=10):
    edges = torch.linspace(0, 1, bins + 1)
    error = 0.0
    for lo, hi in zip(edges[:-1], edges[1:]):
        inside = (confidence > lo) & (confidence <= hi)
        if inside.any():
            gap = confidence[inside].mean() - correct[inside].float().mean()
            error += inside.float().mean().item() * abs(gap.item())
    return error


def main():
    torch.manual_seed(11)
    questions, successor = make_questions(random.Random(4))
    model = CausalLM().eval()
    plant_bigrams(model, successor)
    total = torch.zeros(QUESTIONS, 4)
    with torch.inference_mode():
        for rows in batches(questions):
            for (q, a, _, _), value in zip(rows, score_batch(model, rows).tolist()):
                total[q, a] = value
    gold = torch.tensor([g for _, _, g in questions])
    lengths = torch.tensor([[len(a) for a in answers] for _, answers, _ in questions])
    plain = total.argmax(dim=1)
    per_token = (total / lengths)
    normalised = per_token.argmax(dim=1)
    confidence = per_token.softmax(dim=1).max(dim=1).values
    perplexity = math.exp(-(total.gather(1, gold[:, None]).sum() / lengths.gather(1, gold[:, None]).sum()).item())
    print(f"questions {QUESTIONS}  accuracy {(plain == gold).float().mean():.3f}  "
          f"normalised {(normalised == gold).float().mean():.3f}")
    print(f"gold perplexity {perplexity:.2f}  calibration error "
          f"{expected_calibration_error(confidence, normalised == gold):.4f}")


if __name__ == "__main__":
    main()
