"""Says who should come on in the second half: an encoder looks at both teams, then substitutes are chosen one after another with a pointer. Inference.

Planted: whether a player may be chosen is looked up player by player, each an element of a tensor that is read and written in a loop in Python.
Truth: time of these loops, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

try:
    from dwell import step as mark_step
except ImportError:  # not run under dwell
    def mark_step():
        pass

SQUAD, TRAITS, WIDTH, GAMES, CHANGES = 36, 24, 160, 24, 3
watch = Stopwatch()


class Bench(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = nn.Linear(TRAITS, WIDTH)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, batch_first=True, dropout=0) for _ in range(3))
        self.point = nn.Linear(WIDTH, WIDTH)

    def forward(self, squads):
        x = self.start(squads)
        for layer in self.layers:
            x = layer(x)
        return x


def forbid(scores, fouls, minutes, chosen):
    """Who has been off, is tired or has two cards stays where he is."""
    with watch.planted():
        for game in range(scores.shape[0]):
            for player in range(scores.shape[1]):
                if chosen[game, player] or fouls[game, player].item() > 1 or minutes[game, player].item() > 80:
                    scores[game, player] = -1e9
    return scores


@torch.no_grad()
def changes(bench, squads, fouls, minutes):
    coded = bench(squads)
    state = coded.mean(1)
    chosen = torch.zeros(coded.shape[:2], dtype=torch.bool)
    picked = []
    for _ in range(CHANGES):
        scores = torch.einsum("gpw,gw->gp", coded, bench.point(state))
        pick = forbid(scores, fouls, minutes, chosen).argmax(1)
        chosen[torch.arange(len(pick)), pick] = True
        state = state + coded[torch.arange(len(pick)), pick]
        picked.append(pick)
    return torch.stack(picked, 1)


def main():
    torch.manual_seed(16)
    torch.set_num_threads(1)
    bench = Bench().eval()
    bench.requires_grad_(False)
    season = torch.randn(30, GAMES, SQUAD, TRAITS)
    fouls = torch.randint(0, 3, (30, GAMES, SQUAD))
    minutes = torch.randint(0, 91, (30, GAMES, SQUAD))
    came_on = torch.zeros(SQUAD, dtype=torch.long)
    changes(bench, season[0], fouls[0], minutes[0])
    watch.planted_s = 0.0
    with watch.loop():
        day = 0
        while watch.seconds() < 6:
            picked = changes(bench, season[day], fouls[day], minutes[day])
            came_on += torch.bincount(picked.flatten(), minlength=SQUAD)
            day = (day + 1) % 30
            watch.step()
            mark_step()
    print("most often:", came_on.argmax().item())
    watch.tell()


main()
