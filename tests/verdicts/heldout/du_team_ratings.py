"""Ratings of teams from results: each team has vectors of its own for attack, defence and form, and a small net makes goals of two teams.

Planted: Adam goes parameter by parameter (foreach=False) over two vectors for each of 110 teams.
Truth: time of optimizer.step(), as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

TEAMS, TRAITS, GAMES = 110, 48, 768
watch = Stopwatch()


class Team(nn.Module):
    def __init__(self):
        super().__init__()
        self.attack = nn.Parameter(torch.randn(TRAITS) / 5)
        self.defence = nn.Parameter(torch.randn(TRAITS) / 5)


class League(nn.Module):
    def __init__(self):
        super().__init__()
        self.teams = nn.ModuleDict({f"team{n}": Team() for n in range(TEAMS)})
        self.goals = nn.Sequential(nn.Linear(2 * TRAITS, 224), nn.SiLU(), nn.Linear(224, 224), nn.SiLU(), nn.Linear(224, 1), nn.Softplus())

    def forward(self, home, away):
        attack = torch.stack([team.attack for team in self.teams.values()])
        defence = torch.stack([team.defence for team in self.teams.values()])
        return self.goals(torch.cat([attack[home], defence[away]], 1))[:, 0], self.goals(torch.cat([attack[away], defence[home]], 1))[:, 0]


def season(weeks):
    strong = torch.rand(TEAMS)
    for _ in range(weeks):
        home, away = torch.randint(0, TEAMS, (2, GAMES))
        yield home, away, torch.poisson(1.5 * strong[home] + 0.5), torch.poisson(1.2 * strong[away] + 0.4)


def main():
    torch.manual_seed(70)
    torch.set_num_threads(1)
    league = League()
    optimizer = torch.optim.Adam(league.parameters(), 1e-3, foreach=False)
    weeks = list(season(50))
    week = 0
    with watch.loop():
        while watch.seconds() < 6:
            home, away, scored, let_in = weeks[week % len(weeks)]
            ours, theirs = league(home, away)
            loss = nn.functional.poisson_nll_loss(ours, scored, log_input=False) + nn.functional.poisson_nll_loss(theirs, let_in, log_input=False)
            league.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            week += 1
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
