"""Fits a model of bees' flights to a small table, in hundreds of short epochs.

Decoy of a restarted loader: each epoch makes a new DataLoader, but without workers and over whole batches.
Truth: time of making loaders and of getting batches, as a share of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader

from stopwatch import Stopwatch


def main():
    torch.manual_seed(240)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(400, 900), nn.ELU(), nn.Linear(900, 600), nn.ELU(), nn.Linear(600, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    flights, watch = list(torch.randn(4, 320, 400)), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            for batch in watch.batches(DataLoader(flights, batch_size=None)):
                loss = nn.functional.mse_loss(model(batch), batch[:, :3])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
