"""Continues short melodies with a recurrent event model, for the practice app.

Events are note-on, duration and rest tokens.  Sampling uses a repetition penalty
and top-k, so that the continuation does not get stuck on one figure.
"""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

N_PITCH, N_DURATION, N_REST = 60, 12, 8
VOCAB = N_PITCH + N_DURATION + N_REST + 2
BOS, EOS = VOCAB - 2, VOCAB - 1


@dataclass(frozen=True)
class SamplingConfig:
    temperature: float = 0.9
    top_k: int = 16
    repetition_penalty: float = 1.15
    max_events: int = 400


class EventModel(nn.Module):
    def __init__(self, dim=192, hidden=320, layers=2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.rnn = nn.GRU(dim, hidden, layers, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, VOCAB)

    def forward(self, tokens, state=None):
        h, state = self.rnn(self.embed(tokens), state)
        return self.head(self.norm(h)), state


def training_phrases(n, length, seed):
    """Stepwise tunes in a random mode: pitch and duration tokens in turn."""
    g = torch.Generator().manual_seed(seed)
    steps = torch.randint(-2, 3, (n, length // 2), generator=g)
    pitch = (torch.randint(20, 40, (n, 1), generator=g) + steps.cumsum(1)).clamp(0, N_PITCH - 1)
    duration = N_PITCH + torch.randint(0, 4, (n, length // 2), generator=g) * 2
    tokens = torch.stack([pitch, duration], dim=2).flatten(1)
    return torch.cat([torch.full((n, 1), BOS), tokens], dim=1)


def fit(model, phrases, steps, batch_size, lr):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    g = torch.Generator().manual_seed(5)
    model.train()
    for _ in range(steps):
        batch = phrases[torch.randint(len(phrases), (batch_size,), generator=g)]
        logits, _ = model(batch[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss.item()


def penalize_repeats(logits, history, penalty):
    """Makes events that were already played less likely (CTRL, section 4.1)."""
    for row in range(logits.shape[0]):
        for token in set(history[row].tolist()):
            if logits[row, token] < 0:
                logits[row, token] *= penalty
            else:
                logits[row, token] /= penalty
    return logits


def sample_next(logits, config, generator):
    top, index = (logits / config.temperature).topk(config.top_k, dim=-1)
    choice = torch.multinomial(top.softmax(-1), 1, generator=generator)
    return index.gather(1, choice)


class Continuation:
    def __init__(self, model, config, seed):
        self.model = model.eval()
        self.config = config
        self.generator = torch.Generator().manual_seed(seed)

    @torch.inference_mode()
    def run(self, primer):
        config = self.config
        n, length = primer.shape
        history = torch.empty(n, length + config.max_events, dtype=torch.long)
        history[:, :length] = primer
        logits, state = self.model(primer)
        for i in range(config.max_events):
            scores = logits[:, -1].clone()
            scores[:, BOS] = -torch.inf
            scores[:, EOS] = -torch.inf
            scores = penalize_repeats(scores, history[:, : length + i], config.repetition_penalty)
            token = sample_next(scores, config, self.generator)
            history[:, length + i] = token.squeeze(1)
            logits, state = self.model(token, state)
        return history[:, length:]


def describe(tokens):
    pitches = tokens[tokens < N_PITCH].float()
    distinct = sum(len(set(row.tolist())) for row in tokens) / len(tokens)
    in_turn = ((tokens[:, :-1] < N_PITCH) != (tokens[:, 1:] < N_PITCH)).float().mean()
    return pitches.mean().item(), distinct, in_turn.item()


def main():
    torch.manual_seed(3)
    model = EventModel()
    phrases = training_phrases(1500, 48, seed=1)
    loss = fit(model, phrases, steps=10, batch_size=16, lr=3e-3)
    primer = training_phrases(40, 32, seed=2)
    continuation = Continuation(model, SamplingConfig(), seed=4)
    tokens = continuation.run(primer)
    mean_pitch, distinct, in_turn = describe(tokens)
    print(f"loss {loss:.3f}  events {tokens.numel()}  mean pitch {mean_pitch:.2f}  distinct {distinct:.1f}  in turn {in_turn:.3f}")


if __name__ == "__main__":
    main()
