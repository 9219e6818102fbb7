"""Learns to bid; an auction house in another process says what a bid was worth.

Planted: after the forward pass of each step, the loop asks the auction house and waits 10 ms for its answer.
Truth: time from the question to the answer, as a share of the loop.
"""
import multiprocessing
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def auction_house(line):
    while True:
        bids = line.recv()
        if bids is None:
            return
        time.sleep(0.01)
        line.send([1.0 - abs(bid - 0.3) for bid in bids])


def main():
    torch.manual_seed(10)
    watch = Stopwatch()
    ours, theirs = multiprocessing.Pipe()
    house = multiprocessing.get_context("fork").Process(target=auction_house, args=(theirs,), daemon=True)
    house.start()
    policy = nn.Sequential(nn.Linear(300, 1400), nn.ReLU(), nn.Linear(1400, 1400), nn.ReLU(), nn.Linear(1400, 1))
    optimizer = torch.optim.SGD(policy.parameters(), lr=1e-4)
    goods = torch.randn(2048, 300)
    with watch.loop():
        for number in range(100000):
            batch = goods[number * 128 % 2048:][:128]
            mean = policy(batch)[:, 0]
            bids = (mean + torch.randn(128)).detach()
            with watch.planted():
                ours.send(bids.tolist())
                worth = ours.recv()
            loss = ((mean - bids).square() * torch.tensor(worth)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            if watch.seconds() > 6:
                break
    watch.tell()
    ours.send(None)
    house.join()


if __name__ == "__main__":
    main()
