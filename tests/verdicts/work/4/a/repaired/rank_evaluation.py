"""Offline evaluation of a retrieval model: recall, NDCG and coverage at 20."""
import torch
from torch import nn
from torch.nn import functional as F

USERS = 3000
ITEMS = 30000
DIM = 48
TOP = 20
BATCH = 128


class TwoTower(nn.Module):
    def __init__(self, generator):
        super().__init__()
        centres = torch.randn(60, DIM, generator=generator)
        self.register_buffer("user_cluster", torch.randint(0, 60, (USERS,), generator=generator))
        self.register_buffer("item_cluster", torch.randint(0, 60, (ITEMS,), generator=generator))
        noise = torch.randn(USERS, DIM, generator=generator)
        self.users = nn.Embedding.from_pretrained(centres[self.user_cluster] + 0.7 * noise)
        noise = torch.randn(ITEMS, DIM, generator=generator)
        self.items = nn.Embedding.from_pretrained(centres[self.item_cluster] + 0.7 * noise)
        self.project = nn.Linear(DIM, DIM, bias=False)
        nn.init.eye_(self.project.weight)
        self.bias = nn.Parameter(0.1 * torch.randn(ITEMS, generator=generator))

    def item_vectors(self):
        return F.normalize(self.items.weight, dim=1)

    def scores(self, user_ids, item_vectors):
        query = F.normalize(self.project(self.users(user_ids)), dim=1)
        return query @ item_vectors.T + 0.2 * self.bias


def make_history(model, generator, per_user=40):
    """Items seen in training, and those held out, as (USERS, k) id tables."""
    seen = torch.randint(0, ITEMS, (USERS, per_user), generator=generator)
    order = torch.argsort(model.item_cluster)
    sizes = torch.bincount(model.item_cluster, minlength=60)
    starts = torch.cumsum(sizes, 0) - sizes
    size, start = sizes[model.user_cluster], starts[model.user_cluster]
    pick = (torch.rand(USERS, 10, generator=generator) * size.unsqueeze(1)).long()
    held_out = order[start.unsqueeze(1) + pick]
    return seen, held_out


class RankingMetrics:
    def __init__(self, top):
        self.top = top
        self.discount = 1.0 / torch.log2(torch.arange(top).float() + 2)
        self.recall = self.ndcg = self.reciprocal = 0.0
        self.users = 0
        self.shown = torch.zeros(ITEMS, dtype=torch.bool)

    def update(self, ranked, relevant):
        hit = (ranked.unsqueeze(2) == relevant.unsqueeze(1)).any(2).float()
        found = hit.sum(1)
        ideal = torch.cumsum(self.discount, 0)[min(self.top, relevant.shape[1]) - 1]
        self.recall += (found / relevant.shape[1]).sum().item()
        self.ndcg += ((hit * self.discount).sum(1) / ideal).sum().item()
        first = torch.where(found > 0, hit.argmax(1), -1)
        self.reciprocal += (1.0 / (first[first >= 0].float() + 1)).sum().item()
        self.shown[ranked.reshape(-1)] = True
        self.users += len(ranked)

    def report(self):
        return {
            f"recall@{self.top}": self.recall / self.users,
            f"ndcg@{self.top}": self.ndcg / self.users,
            "mrr": self.reciprocal / self.users,
            "coverage": self.shown.float().mean().item(),
        }


def recommend(scores, seen, top):
    """Ids of the best items per user, without those already seen."""
    scores.scatter_(1, seen, float("-inf"))
    return scores.topk(top, dim=1).indices


@torch.inference_mode()
def evaluate(model, users, seen, held_out):
    model.eval()
    metrics = RankingMetrics(TOP)
    items = model.item_vectors()
    for batch in users.split(BATCH):
        scores = model.scores(batch, items)
        metrics.update(recommend(scores, seen[batch], TOP), held_out[batch])
    return metrics.report()


def segments(seen):
    """Users by activity, as the weekly report shows them."""
    activity = (seen < ITEMS // 3).sum(1)
    low, high = activity.float().quantile(torch.tensor([0.33, 0.66])).tolist()
    everyone = torch.arange(USERS)
    return {
        "light": everyone[activity <= low],
        "regular": everyone[(activity > low) & (activity <= high)],
        "heavy": everyone[activity > high],
    }


def main():
    generator = torch.Generator().manual_seed(42)
    model = TwoTower(generator)
    seen, held_out = make_history(model, generator)
    for name, users in segments(seen).items():
        report = evaluate(model, users, seen, held_out)
        line = ", ".join(f"{k} {v:.4f}" for k, v in report.items())
        print(f"{name} ({len(users)} users): {line}")


if __name__ == "__main__":
    main()
