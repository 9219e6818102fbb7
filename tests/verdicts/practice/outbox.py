"""Learns the prices of houses, and sends its errors away in parcels.

Decoy of growing memory: a list keeps the errors of each step, but it is emptied after every twentieth.
Truth: time of keeping and sending, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(241)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(320, 900), nn.SiLU(), nn.Linear(900, 700), nn.SiLU(), nn.Linear(700, 400))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    houses, watch, outbox, sent = torch.randn(5000, 320), Stopwatch(), [], 0.0
    with watch.loop():
        while watch.seconds() < 3.4:
            batch = houses[torch.randint(5000, (200,))]
            errors = model(batch) - batch[:, :1]
            loss = errors.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                outbox.append(errors.detach())
                if len(outbox) == 20:
                    sent += sum(each[0, 0].item() for each in outbox)
                    outbox.clear()
            watch.step()
    print(f"loss {loss.item():.3f}, sent {sent:.1f}")
    watch.tell()


if __name__ == "__main__":
    main()
