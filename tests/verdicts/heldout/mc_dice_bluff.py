"""Learns a bluffing game with dice from its own games: a value network, a memory of 1.2 million positions, and batches
from the positions that surprised it most.

Planted: a batch is drawn with torch.multinomial() without replacement over the surprise of the whole memory.
Truth: time of this draw, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

DICE, BIDS, KEPT, BATCH, TABLES = 10, 60, 1_200_000, 768, 128


class Memory:
    def __init__(self):
        self.hands = torch.randint(1, 7, (KEPT, DICE), dtype=torch.uint8)
        self.bids = torch.randint(BIDS, (KEPT,), dtype=torch.uint8)
        self.won = torch.rand(KEPT)
        self.surprise = torch.rand(KEPT) + 0.1
        self.next = 0

    def add(self, hands, bids, won):
        places = (torch.arange(len(hands)) + self.next) % KEPT
        self.hands[places], self.bids[places], self.won[places] = hands, bids, won
        self.surprise[places] = 1.0
        self.next = (self.next + len(hands)) % KEPT

    def draw(self, count):
        return torch.multinomial(self.surprise, count)


class Bluffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.dice = nn.Embedding(7, 32)
        self.bid = nn.Embedding(BIDS, 96)
        self.think = nn.Sequential(nn.Linear(DICE * 32 + 96, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))

    def forward(self, hands, bids):
        return self.think(torch.cat([self.dice(hands.int()).flatten(1), self.bid(bids.int())], dim=1)).squeeze(1)


@torch.no_grad()
def play(model, memory):
    """Each table rolls, tries eight bids and takes the best; whether it was true decides."""
    hands = torch.randint(1, 7, (TABLES, DICE), dtype=torch.uint8)
    bids = torch.randint(BIDS, (TABLES, 8), dtype=torch.uint8)
    worth = model(hands.repeat_interleave(8, 0), bids.flatten()).view(TABLES, 8)
    bid = bids.gather(1, worth.argmax(1, keepdim=True)).squeeze(1)
    count, face = bid // 6 + 1, bid % 6 + 1
    memory.add(hands, bid, ((hands == face[:, None]).sum(1) >= count).float())


def main():
    torch.manual_seed(66)
    watch, memory, model = Stopwatch(), Memory(), Bluffer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    with watch.loop():
        while watch.seconds() < 6:
            play(model, memory)
            with watch.planted():
                which = memory.draw(BATCH)
            optimizer.zero_grad()
            said = model(memory.hands[which], memory.bids[which])
            error = said - memory.won[which]
            error.pow(2).mean().backward()
            optimizer.step()
            memory.surprise[which] = error.detach().abs() + 0.1
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
