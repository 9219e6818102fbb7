"""Forecasts sales, with a verbose logger.

Decoy of logging: debug lines are not formatted because their level is off, and a line of every 50th step is.
Truth: time of the logger, as a share of the loop.
"""
import logging
import sys

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s", stream=sys.stderr)
    log = logging.getLogger("sales")
    torch.manual_seed(84)
    model = nn.Sequential(nn.Linear(14 * 20, 600), nn.ReLU(), nn.Linear(600, 600), nn.ReLU(), nn.Linear(600, 7))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    sales = torch.rand(3000, 14 * 20)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            weeks = sales[torch.randint(3000, (512,))]
            loss = nn.functional.smooth_l1_loss(model(weeks), weeks[:, :7])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                for name, _ in model.named_parameters():
                    log.debug("gradient of %s at step %d", name, len(watch.marks))
                if len(watch.marks) % 50 == 0:
                    log.info("step %d loss %.4f", len(watch.marks), loss)
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
