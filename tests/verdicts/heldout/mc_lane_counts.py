"""How many vehicles will each lane carry in the next quarter of an hour? A transformer over the last day of a motorway.

Clean: the usual loop over batches in memory, all of one shape.
Truth: time to take a batch out of the day, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

LANES, QUARTERS, WIDE, BATCH = 24, 64, 128, 24


class Day(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(LANES, WIDE)
        self.when = nn.Parameter(0.02 * torch.randn(QUARTERS, WIDE))
        layer = nn.TransformerEncoderLayer(WIDE, 4, 384, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.leave = nn.Linear(WIDE, LANES)

    def forward(self, counts):
        return self.leave(self.body(self.enter(counts) + self.when)[:, -1])


def main():
    torch.manual_seed(14)
    watch, model = Stopwatch(), Day()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    year = torch.rand(4000, LANES)
    starts = torch.randint(len(year) - QUARTERS - 1, (4096,)).tolist()
    at = 0
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                chosen = starts[at:at + BATCH]
                counts = torch.stack([year[s:s + QUARTERS] for s in chosen])
                ahead = torch.stack([year[s + QUARTERS] for s in chosen])
                at = (at + BATCH) % (len(starts) - BATCH)
            loss = nn.functional.mse_loss(model(counts), ahead)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    watch.tell(loss=round(loss.item(), 4))


if __name__ == "__main__":
    main()
