"""Estimate which skills the pupils of an online course have mastered.

An LSTM reads each pupil's sequence of exercises and answers and predicts the
next answer.  Training uses a focal loss with a hand-written gradient and
length-bucketed batches.
"""
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

SKILLS = 60
PUPILS = 540
EPOCHS = 2


class FocalLoss(torch.autograd.Function):
    """Mean of (1 - p_t)^gamma * -log p_t over the masked positions."""

    @staticmethod
    def forward(ctx, logit, answer, mask, gamma):
        sign = 2 * answer - 1
        p = torch.sigmoid(logit * sign)
        log_p = nn.functional.logsigmoid(logit * sign)
        count = mask.sum()
        ctx.save_for_backward(p, log_p, sign, mask, count)
        ctx.gamma = gamma
        return -((1 - p) ** gamma * log_p * mask).sum() / count

    @staticmethod
    def backward(ctx, grad):
        p, log_p, sign, mask, count = ctx.saved_tensors
        g = ctx.gamma
        slope = (1 - p) ** g * (g * p * log_p - (1 - p))
        return grad * slope * sign * mask / count, None, None, None


def simulate(rng):
    """Sequences of (skill, correct); practice moves a pupil's mastery up."""
    difficulty = [rng.gauss(0, 0.8) for _ in range(SKILLS)]
    pupils = []
    for _ in range(PUPILS):
        talent = rng.gauss(0, 0.9)
        mastery = [0.0] * SKILLS
        skill, rows = rng.randrange(SKILLS), []
        for _ in range(min(30 + int(rng.expovariate(1 / 45)), 180)):
            if rng.random() < 0.2:
                skill = min(max(skill + rng.randint(-2, 3), 0), SKILLS - 1)
            odds = talent + mastery[skill] - difficulty[skill]
            correct = rng.random() < 0.15 + 0.82 / (1 + 2.718281828 ** (-1.6 * odds))
            rows.append((skill, int(correct)))
            mastery[skill] += 0.25
            if skill + 1 < SKILLS:
                mastery[skill + 1] += 0.06
        pupils.append(torch.tensor(rows))
    return pupils


class Histories(Dataset):
    def __init__(self, pupils):
        self.pupils = pupils

    def __len__(self):
        return len(self.pupils)

    def __getitem__(self, i):
        return self.pupils[i]


class BucketSampler:
    """Batches of pupils with histories of similar length, in shuffled order."""

    def __init__(self, pupils, size, seed):
        order = sorted(range(len(pupils)), key=lambda i: len(pupils[i]))
        self.batches = [order[i:i + size] for i in range(0, len(order), size)]
        self.rng = random.Random(seed)

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        self.rng.shuffle(self.batches)
        return iter(self.batches)


def collate(rows):
    rows = sorted(rows, key=len, reverse=True)
    length = torch.tensor([len(r) - 1 for r in rows])
    table = pad_sequence(rows, batch_first=True)
    mask = (torch.arange(table.shape[1] - 1) < length[:, None]).float()
    return table[..., 0], table[..., 1], mask, length


class Tracer(nn.Module):
    def __init__(self, dim=48, hidden=96):
        super().__init__()
        self.event = nn.Embedding(2 * SKILLS, dim)
        self.rnn = nn.LSTM(dim, hidden, num_layers=2, batch_first=True, dropout=0.1)
        self.skill = nn.Embedding(SKILLS, hidden)
        self.bias = nn.Embedding(SKILLS, 1)

    def forward(self, skill, answer, length):
        events = self.event(skill[:, :-1] + SKILLS * answer[:, :-1])
        packed = pack_padded_sequence(events, length, batch_first=True)
        state, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        coming = skill[:, 1:]
        return (state * self.skill(coming)).sum(-1) / state.shape[-1] ** 0.5 + self.bias(coming)[..., 0]


def auc(score, label):
    order = score.argsort()
    rank = torch.empty(len(score), dtype=torch.float64)
    rank[order] = torch.arange(1, len(score) + 1, dtype=torch.float64)
    pos = label.sum().item()
    return (rank[label > 0].sum().item() - pos * (pos + 1) / 2) / (pos * (len(label) - pos))


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    scores, labels = [], []
    for skill, answer, mask, length in loader:
        keep = mask > 0
        scores.append(model(skill, answer, length)[keep])
        labels.append(answer[:, 1:][keep])
    score, label = torch.cat(scores), torch.cat(labels)
    return auc(score, label), ((score > 0) == (label > 0)).float().mean().item()


def main():
    torch.manual_seed(29)
    pupils = simulate(random.Random(29))
    cut = PUPILS * 4 // 5
    train = DataLoader(Histories(pupils[:cut]), collate_fn=collate,
                       batch_sampler=BucketSampler(pupils[:cut], 32, 29))
    test = DataLoader(Histories(pupils[cut:]), collate_fn=collate,
                      batch_sampler=BucketSampler(pupils[cut:], 64, 29))
    model = Tracer()
    optimiser = torch.optim.NAdam(model.parameters(), lr=4e-3)
    for epoch in range(EPOCHS):
        model.train()
        total = torch.zeros(())
        for skill, answer, mask, length in train:
            logit = model(skill, answer, length)
            loss = FocalLoss.apply(logit, answer[:, 1:].float(), mask, 1.0)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            total += loss.detach()
        print(f"epoch {epoch}: focal loss {total.item() / len(train):.4f}")
    area, accuracy = evaluate(model, test)
    print(f"held-out pupils: AUC {area:.4f}, accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
