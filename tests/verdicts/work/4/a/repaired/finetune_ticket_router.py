"""Fine-tunes a pretrained-style encoder to route support tickets to teams."""
import random

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

VOCAB = 4000
MAX_LENGTH = 144
TEAMS = 8
PAD, CLS = 0, 1


def make_tickets(n, seed):
    """Token id lists with a length distribution like that of real tickets."""
    rng = random.Random(seed)
    tickets = []
    for _ in range(n):
        team = rng.randrange(TEAMS)
        length = min(MAX_LENGTH - 1, 6 + int(rng.lognormvariate(2.9, 0.6)))
        topic = 100 + 40 * team
        body = [rng.randrange(topic, topic + 40) if rng.random() < 0.3
                else rng.randrange(2500, VOCAB) for _ in range(length)]
        tickets.append((body, team))
    return tickets


class TicketDataset(Dataset):
    def __init__(self, tickets, max_length=MAX_LENGTH):
        self.tickets = tickets
        self.max_length = max_length

    def __len__(self):
        return len(self.tickets)

    def __getitem__(self, i):
        body, team = self.tickets[i]
        ids = [CLS] + body[: self.max_length - 1]
        return torch.tensor(ids), team


def collate(samples):
    """Pads a batch to the length of its longest ticket."""
    ids, teams = zip(*samples)
    return nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=PAD), torch.tensor(teams)


class Encoder(nn.Module):
    def __init__(self, dim=128, heads=4, layers=2):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.positions = nn.Embedding(MAX_LENGTH, dim)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(dim, heads, 4 * dim, dropout=0.0, activation="gelu",
                                       batch_first=True, norm_first=True)
            for _ in range(layers))
        self.norm = nn.LayerNorm(dim)

    def forward(self, ids):
        mask = ids.eq(PAD)
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=mask)
        keep = (~mask).unsqueeze(-1).to(x.dtype)
        return (self.norm(x) * keep).sum(1) / keep.sum(1)


class Router(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(128, TEAMS)

    def forward(self, ids):
        return self.head(self.encoder(ids))


def pretrained_encoder():
    """Stands in for the checkpoint: well scaled weights from a fixed seed."""
    torch.manual_seed(1234)
    encoder = Encoder()
    for p in encoder.parameters():
        if p.dim() > 1:
            nn.init.trunc_normal_(p, std=0.05)
    return encoder


def parameter_groups(model, lr, decay):
    """Smaller steps for the lower layers, no decay for biases and norms."""
    groups = []
    for name, p in model.named_parameters():
        scale = 1.0 if name.startswith("head") else 0.5
        groups.append({"params": [p], "lr": lr * scale,
                       "weight_decay": decay if p.dim() > 1 else 0.0})
    return groups


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = total = 0
    for ids, team in loader:
        hits += (model(ids).argmax(1) == team).sum().item()
        total += len(team)
    return hits / total


def main():
    train = DataLoader(TicketDataset(make_tickets(704, 1)), batch_size=32, shuffle=True,
                       collate_fn=collate,
                       generator=torch.Generator().manual_seed(5))
    held_out = DataLoader(TicketDataset(make_tickets(128, 2)), batch_size=32, collate_fn=collate)
    model = Router(pretrained_encoder())
    opt = torch.optim.AdamW(parameter_groups(model, 3e-3, 0.01), lr=3e-3)
    for epoch in range(1):
        model.train()
        total = 0.0
        for ids, team in train:
            loss = F.cross_entropy(model(ids), team)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item() * len(team)
        print(f"epoch {epoch}: loss {total / len(train.dataset):.2f}")
    print(f"held-out accuracy {accuracy(model, held_out):.2f}")


if __name__ == "__main__":
    main()
