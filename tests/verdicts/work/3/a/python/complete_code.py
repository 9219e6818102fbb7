"""Greedy completion of code prompts with a small decoder-only transformer."""
import torch
from torch import nn
from torch.nn import functional as F

VOCAB = 512
DIM = 192
HEADS = 6
LAYERS = 4
CONTEXT = 384


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.out = nn.Linear(DIM, DIM)

    def forward(self, x, past=None):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1)
        return self.out(y.transpose(1, 2).reshape(b, t, DIM)), (k, v)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x, past=None):
        y, state = self.attention(self.norm1(x), past)
        x = x + y
        return x + self.mlp(self.norm2(x)), state


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCAB, DIM)
        self.place = nn.Embedding(CONTEXT, DIM)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, tokens, past=None):
        start = 0 if past is None else past[0][0].shape[2]
        places = torch.arange(start, start + tokens.shape[1])
        x = self.token(tokens) + self.place(places)
        states = []
        for i, block in enumerate(self.blocks):
            x, state = block(x, None if past is None else past[i])
            states.append(state)
        return self.head(self.norm(x[:, -1])), states


def load_decoder(seed):
    torch.manual_seed(seed)
    model = Decoder()
    for p in model.parameters():
        if p.dim() > 1:
            nn.init.normal_(p, std=0.06)
    return model.eval()


def banned_repeats(tokens, size=3):
    """Token ids that would repeat an n-gram already present in the text."""
    tail, banned = tuple(tokens[-(size - 1):]), set()
    for i in range(len(tokens) - size + 1):
        if tuple(tokens[i:i + size - 1]) == tail:
            banned.add(tokens[i + size - 1])
    return banned


@torch.inference_mode()
def complete(model, prompt, length, stop=0):
    tokens = list(prompt)
    while len(tokens) < len(prompt) + length:
        logits, _ = model(torch.tensor([tokens]))
        scores = logits[0]
        for bad in banned_repeats(tokens):
            scores[bad] = float("-inf")
        best = int(scores.argmax())
        if best == stop and len(tokens) > len(prompt) + length // 2:
            break
        tokens.append(best)
    return tokens[len(prompt):]


def prompts(count, seed):
    g = torch.Generator().manual_seed(seed)
    for _ in range(count):
        length = int(torch.randint(40, 90, (1,), generator=g))
        yield torch.randint(1, VOCAB, (length,), generator=g).tolist()


def main():
    model = load_decoder(seed=12)
    check, total = 0, 0
    for number, prompt in enumerate(prompts(3, seed=13)):
        answer = complete(model, prompt, length=165)
        for token in answer:
            check = (check * 131 + token) % 1_000_000_007
        total += len(answer)
        print(f"prompt {number} of {len(prompt)} tokens, answer {len(answer)} starts {answer[:5]}")
    print(f"tokens {total} check {check}")


if __name__ == "__main__":
    main()
