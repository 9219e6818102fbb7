"""Adapts a pretrained text encoder to route support tickets to eight queues.

The encoder stays as it was pretrained; a new pooling head is trained on top.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB = 4000
LENGTH = 48
DIM = 192
LAYERS = 4
QUEUES = 8
BATCH = 32
STEPS = 32
EVAL_TICKETS = 256


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, DIM, padding_idx=0)
        self.positions = nn.Parameter(torch.randn(LENGTH, DIM) * 0.02)
        layer = nn.TransformerEncoderLayer(DIM, 6, 4 * DIM, dropout=0.0, activation="gelu",
                                           batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(DIM)

    def forward(self, ids):
        mask = ids == 0
        x = self.tokens(ids) + self.positions
        return self.norm(self.layers(x, src_key_padding_mask=mask)), mask


class AttentionPool(nn.Module):
    """Learned query over the token states, then a two-layer classifier."""

    def __init__(self):
        super().__init__()
        self.query = nn.Parameter(torch.zeros(4, DIM))
        self.out = nn.Sequential(nn.Linear(4 * DIM, 128), nn.ReLU(), nn.Dropout(0.1),
                                 nn.Linear(128, QUEUES))
        nn.init.normal_(self.query, std=0.1)

    def forward(self, states, mask):
        scores = states @ self.query.T / DIM ** 0.5
        weights = scores.masked_fill(mask.unsqueeze(-1), float("-inf")).softmax(1)
        return self.out((weights.transpose(1, 2) @ states).flatten(1))


class Router(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = AttentionPool()

    def forward(self, ids):
        states, mask = self.encoder(ids)
        return self.head(states, mask)


def load_pretrained():
    """Stands for the checkpoint of the language team: fixed weights from a seed."""
    torch.manual_seed(1234)
    return Encoder().eval()


class TicketStream:
    """Tickets mix words of their queue with common words."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def batch(self, count):
        queue = torch.randint(QUEUES, (count,), generator=self.gen)
        common = torch.randint(1, 2000, (count, LENGTH), generator=self.gen)
        topical = 2000 + queue.unsqueeze(1) * 250 + torch.randint(
            250, (count, LENGTH), generator=self.gen)
        use = torch.rand(count, LENGTH, generator=self.gen) < 0.5
        ids = torch.where(use, topical, common)
        lengths = torch.randint(16, LENGTH + 1, (count, 1), generator=self.gen)
        ids[torch.arange(LENGTH) >= lengths] = 0
        return ids, queue


def build_optimizer(model):
    decay, plain = [], []
    for name, p in model.head.named_parameters():
        (decay if p.dim() > 1 else plain).append(p)
    return torch.optim.AdamW([{"params": decay, "weight_decay": 0.01},
                              {"params": plain, "weight_decay": 0.0}], lr=5e-3)


@torch.inference_mode()
def evaluate(model, stream):
    model.head.eval()
    right = 0
    confusion = torch.zeros(QUEUES, QUEUES, dtype=torch.int64)
    for _ in range(EVAL_TICKETS // BATCH):
        ids, queue = stream.batch(BATCH)
        guess = model(ids).argmax(1)
        right += (guess == queue).sum().item()
        confusion += torch.bincount(queue * QUEUES + guess,
                                    minlength=QUEUES * QUEUES).view(QUEUES, QUEUES)
    model.head.train()
    return right / EVAL_TICKETS, confusion


def main():
    encoder = load_pretrained()
    torch.manual_seed(2)
    model = Router(encoder)
    optimizer = build_optimizer(model)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, STEPS)
    stream = TicketStream(5)
    losses = []
    for step in range(1, STEPS + 1):
        ids, queue = stream.batch(BATCH)
        loss = F.cross_entropy(model(ids), queue)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.head.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % 8 == 0:
            print(f"step {step:4d}  loss {sum(losses[-8:]) / 8:.3f}")
    score, confusion = evaluate(model, TicketStream(99))
    print(f"accuracy on new tickets {score:.3f}")
    print("recall by queue", [f"{v:.2f}" for v in
                              (confusion.diag() / confusion.sum(1).clamp(min=1)).tolist()])


if __name__ == "__main__":
    main()
