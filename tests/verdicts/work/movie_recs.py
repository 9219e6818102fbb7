"""Two-tower film recommender trained on generated implicit feedback."""
import argparse
import json
import time

import torch
from torch import nn

torch.set_num_threads(1)
USERS, FILMS, DIM = 40000, 12000, 32


def make_views(n, gen):
    user = torch.randint(0, USERS, (n,), generator=gen)
    film = (torch.rand(n, generator=gen) ** 2 * FILMS).long()
    taste = ((user % 7) == (film % 7)).float()
    label = (torch.rand(n, generator=gen) < 0.15 + 0.7 * taste).float()
    side = torch.stack([(user % 7).float() / 7, (film % 7).float() / 7], 1)
    return user, film, side, label


class Recommender(nn.Module):
    def __init__(self, sparse):
        super().__init__()
        self.user = nn.Embedding(USERS, DIM, sparse=sparse)
        self.film = nn.Embedding(FILMS, DIM, sparse=sparse)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.film.weight, std=0.1)
        self.tower = nn.Sequential(nn.Linear(3 * DIM + 2, 256), nn.ReLU(),
                                   nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, user, film, side):
        u, f = self.user(user), self.film(film)
        return self.tower(torch.cat([u, f, u * f, side], 1)).squeeze(1)

    def tables(self):
        return [self.user.weight, self.film.weight]


@torch.no_grad()
def auc(net, views):
    user, film, side, label = views
    score = net(user, film, side)
    rank = score.argsort().argsort().float() + 1
    pos = label > 0.5
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return ((rank[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--steps", type=int, default=300)
    args = ap.parse_args()
    torch.manual_seed(7)
    gen = torch.Generator().manual_seed(11)
    user, film, side, label = make_views(120000, gen)
    held = make_views(4000, gen)
    net = Recommender(sparse=args.repaired)
    if args.repaired:
        table_opt = torch.optim.SparseAdam(net.tables(), lr=5e-3)
    else:
        table_opt = torch.optim.Adam(net.tables(), lr=5e-3)
    tower_opt = torch.optim.Adam(net.tower.parameters(), lr=2e-3)
    table_seconds = 0.0
    begin = time.perf_counter()
    running = 0.0
    for step in range(args.steps):
        pick = torch.randint(0, len(user), (512,))
        logits = net(user[pick], film[pick], side[pick])
        loss = nn.functional.binary_cross_entropy_with_logits(logits, label[pick])
        table_opt.zero_grad()
        tower_opt.zero_grad()
        loss.backward()
        tower_opt.step()
        start = time.perf_counter()
        table_opt.step()
        table_seconds += time.perf_counter() - start
        running += loss.item()
        if step % 60 == 59:
            print(f"step {step + 1}  loss {running / 60:.4f}  held-out AUC {auc(net, held):.3f}")
            running = 0.0
    total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": round(table_seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
