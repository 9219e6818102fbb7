"""Learns moves of chess, with a mask of the moves that are possible.

Planted: the masks are made in plain Python in each step.
Truth: time of making them, as a share of the loop.
"""
import random

import torch
from torch import nn

from stopwatch import Stopwatch

WAYS = {"rook": ((0, 1), (1, 0), (0, -1), (-1, 0)), "bishop": ((1, 1), (1, -1), (-1, 1), (-1, -1))}
WAYS["queen"] = WAYS["rook"] + WAYS["bishop"]


def reachable(board, square, piece):
    row, column = divmod(square, 8)
    for down, right in WAYS[piece]:
        to_row, to_column = row + down, column + right
        while 0 <= to_row < 8 and 0 <= to_column < 8:
            yield to_row * 8 + to_column
            if to_row * 8 + to_column in board:
                break
            to_row, to_column = to_row + down, to_column + right


def mask_of(board):
    mask = [[0.0] * 64 for _ in range(64)]
    for square, piece in board.items():
        for target in reachable(board, square, piece):
            mask[square][target] = 1.0
    return mask


def main():
    torch.manual_seed(109)
    torch.set_num_threads(1)
    source = random.Random(109)
    boards = [{source.randrange(64): source.choice(list(WAYS)) for _ in range(8)} for _ in range(400)]
    planes = torch.rand(400, 768)
    model = nn.Sequential(nn.Linear(768, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 4096))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            chosen = torch.randint(400, (48,))
            with watch.planted():
                masks = [mask_of(boards[index]) for index in chosen.tolist()]
                possible = torch.tensor(masks).flatten(1)
            scores = model(planes[chosen]).masked_fill(possible == 0, -1e4)
            loss = nn.functional.cross_entropy(scores, possible.argmax(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
