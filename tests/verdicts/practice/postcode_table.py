"""Prices of houses from their postcode.

Planted: Adam updates all rows of a large table, of which a batch uses a few.
Truth: time of the optimizer's step, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(73)
    torch.set_num_threads(1)
    table = nn.Embedding(16000, 48)
    model = nn.Sequential(nn.Linear(48 + 30, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.Adam([*table.parameters(), *model.parameters()], lr=1e-3, foreach=True)
    facts, prices, watch = torch.randn(300, 30), torch.randn(300), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            postcodes = torch.randint(16000, (300,))
            loss = nn.functional.mse_loss(model(torch.cat([table(postcodes), facts], 1)).squeeze(1), prices)
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
