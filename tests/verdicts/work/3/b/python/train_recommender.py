"""Matrix-factorisation recommender trained with sampled negatives."""
import torch
import torch.nn.functional as F
from torch import nn

USERS = 300_000
ITEMS = 150_000
DIM = 32


class Factors(nn.Module):
    def __init__(self, users, items, dim):
        super().__init__()
        self.user = self.table(users, dim)
        self.item = self.table(items, dim)
        self.bias = nn.Parameter(torch.zeros(1))

    @staticmethod
    def table(rows, dim):
        t = nn.Embedding(rows, dim)
        nn.init.normal_(t.weight, std=0.05)
        return t

    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(dim=1) + self.bias


class Interactions:
    """Users like items of their own taste group; popularity is skewed."""

    def __init__(self, events, seed):
        g = torch.Generator().manual_seed(seed)
        self.user = torch.randint(0, USERS, (events,), generator=g)
        skew = torch.rand(events, generator=g) ** 2
        slot = (skew * (ITEMS // 20)).long()
        self.item = (slot * 20 + self.user % 20).clamp(max=ITEMS - 1)
        self.gen = g

    def batches(self, size, negatives=4):
        order = torch.randperm(len(self.user), generator=self.gen)
        for idx in order.split(size):
            user, item = self.user[idx], self.item[idx]
            other = torch.randint(0, ITEMS, (len(idx) * negatives,), generator=self.gen)
            users = torch.cat((user, user.repeat_interleave(negatives)))
            target = torch.cat((torch.ones(len(idx)), torch.zeros(len(other))))
            yield users, torch.cat((item, other)), target


def train(model, data, optimizer, epochs, size=128):
    losses = []
    for _ in range(epochs):
        for user, item, target in data.batches(size):
            optimizer.zero_grad()
            loss = F.binary_cross_entropy_with_logits(model(user, item), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
    return torch.stack(losses)


@torch.inference_mode()
def hit_rate(model, data, users=400, top=50):
    pick = torch.arange(users) * (USERS // users)
    scores = model.user.weight[pick] @ model.item.weight.T
    best = scores.topk(top, dim=1).indices
    return ((best % 20) == (pick % 20).unsqueeze(1)).float().mean().item()


@torch.inference_mode()
def coverage(model, users=400, top=20):
    pick = torch.arange(users) * 7 % USERS
    best = (model.user.weight[pick] @ model.item.weight.T).topk(top, dim=1).indices
    return best.unique().numel() / (users * top)


def main():
    torch.manual_seed(3)
    model = Factors(USERS, ITEMS, DIM)
    data = Interactions(32_000, seed=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=12.0)
    losses = train(model, data, optimizer, epochs=1)
    print(f"batches {len(losses)} loss {losses[-50:].mean():.4f} hits {hit_rate(model, data):.3f} "
          f"coverage {coverage(model):.2f}")


if __name__ == "__main__":
    main()
