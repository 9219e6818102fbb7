"""Plans crews of ferries: a transformer scores rotas that a worker simulates, the loop logs, saves and asks for the loss.

Decoy: a simulator that sleeps for each rota but is far ahead, loss.item(), a flushed log, weights saved after each 50th step, all small.
Truth: time of the wait for batches, of .item(), log and saves, as a share of the loop.
"""
import io
import json
import tempfile
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from stopwatch import Stopwatch


class Rotas(IterableDataset):
    """A week at a time, eight batches of rotas: the simulator waits for its clock, 2 ms a batch."""

    def __iter__(self):
        torch.set_num_threads(1)
        chance = torch.Generator().manual_seed(2)
        kept = torch.randint(0, 80, (64, 24, 40), generator=chance)
        while True:
            for week in kept.view(-1, 8 * 24, 40):
                time.sleep(0.016)
                yield week, week.float().mean(1)


class Planner(nn.Module):
    def __init__(self, wide=96):
        super().__init__()
        self.crews = nn.Embedding(80, wide)
        layer = nn.TransformerEncoderLayer(wide, 4, 256, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.cost = nn.Linear(wide, 1)

    def forward(self, rotas):
        return self.cost(self.body(self.crews(rotas)).mean(1)).squeeze(-1)


def batches(weeks, watch):
    while True:
        with watch.planted():
            rotas, cost = next(weeks)
        yield from zip(rotas.split(24), cost.split(24))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, watch = Planner(), Stopwatch()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    rotas = iter(DataLoader(Rotas(), batch_size=None, num_workers=1, prefetch_factor=8))
    next(rotas)
    time.sleep(0.3)
    with watch.loop(), tempfile.TemporaryFile("w") as log:
        for number, (batch, cost) in watch.limited(enumerate(batches(rotas, watch)), 6):
            loss = nn.functional.mse_loss(model(batch), cost / 80)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                print(json.dumps({"step": number, "loss": loss.item()}), file=log, flush=True)
                if number % 50 == 49:
                    torch.save(model.state_dict(), io.BytesIO())
            watch.step()
    watch.tell(loss=round(loss.item(), 3))


if __name__ == "__main__":
    main()
