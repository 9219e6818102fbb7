"""Generates rain fields; the critic's slope is penalised in every eighth step only.

Planted: the penalty differentiates twice, so that these steps are several times longer.
Truth: time of the penalty, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def penalise(critic, real, made):
    mixed = (real + torch.rand(len(real), 1) * (made - real)).requires_grad_()
    slopes, = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    return 10 * (slopes.norm(dim=1) - 1).pow(2).mean()


def main():
    torch.manual_seed(226)
    torch.set_num_threads(1)
    critic = nn.Sequential(nn.Linear(600, 640), nn.Softplus(), nn.Linear(640, 640), nn.Softplus(), nn.Linear(640, 1))
    maker = nn.Sequential(nn.Linear(32, 200), nn.ReLU(), nn.Linear(200, 600))
    optimizer = torch.optim.SGD(critic.parameters(), lr=1e-3)
    fields, watch = torch.randn(4000, 600), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.6:
            real = fields[torch.randint(4000, (128,))]
            with torch.no_grad():
                made = maker(torch.randn(128, 32))
            loss = critic(made).mean() - critic(real).mean()
            optimizer.zero_grad()
            loss.backward()
            if len(watch.marks) % 8 == 5:
                with watch.planted():
                    for _ in range(2):
                        penalise(critic, real, made).backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
