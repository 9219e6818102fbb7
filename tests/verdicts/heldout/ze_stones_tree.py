"""Learns a game of stones on a ring by playing against itself: a tree search with a network, and three updates after each move.

Planted: after each third move gc.collect() is called to be rid of the trees, and it visits all games in memory too.
Truth: time in gc.collect(), of the loop.
"""
import gc
import math
import random

import torch
from torch import nn
from torch.nn import functional

from stopwatch import Stopwatch

RING, WIDTH, LOOKS, LEAVES, BATCH, UPDATES = 24, 768, 6, 16, 192, 3


class Node:
    __slots__ = ("parent", "children", "board", "prior", "visits", "value")

    def __init__(self, parent, board, prior):
        self.parent, self.board, self.prior = parent, board, prior
        self.children, self.visits, self.value = {}, 0, 0.0

    def best(self):
        scale = math.sqrt(self.visits + 1)
        return max(self.children.values(), key=lambda child: child.prior * scale / (1 + child.visits) - child.value / (1 + child.visits))

    def back(self, value):
        node = self
        while node:
            node.visits += 1
            node.value += value
            value, node = -value, node.parent


class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(RING, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU())
        self.policy, self.worth = nn.Linear(WIDTH, RING), nn.Linear(WIDTH, 1)

    def forward(self, boards):
        x = self.body(boards)
        return self.policy(x), torch.tanh(self.worth(x))[:, 0]


def put(board, place):
    """Own stones are 1; the next player sees the board with the signs changed."""
    following = [-stone for stone in board]
    following[place] = -1.0
    return following


@torch.no_grad()
def search(model, root):
    for _ in range(LOOKS):
        leaves = []
        for _ in range(LEAVES):
            node = root
            while node.children:
                node = node.best()
                node.visits += 1
            leaves.append(node)
        policies, values = model(torch.tensor([leaf.board for leaf in leaves]))
        for leaf, policy, value in zip(leaves, policies.softmax(1).tolist(), values.tolist()):
            if not leaf.children:
                ranked = sorted((place for place in range(RING) if leaf.board[place] == 0), key=lambda place: -policy[place])
                for place in ranked[:5]:
                    leaf.children[place] = Node(leaf, put(leaf.board, place), policy[place])
            leaf.back(value)
    return max(root.children, key=lambda place: root.children[place].visits)


def old_games(count):
    """What earlier runs left: each position as a list of its stones."""
    return [([random.choice((-1.0, 0.0, 1.0)) for _ in range(RING)], (random.randrange(RING), random.choice((-1.0, 1.0)))) for _ in range(count)]


def main():
    random.seed(4)
    torch.manual_seed(4)
    torch.set_num_threads(1)
    model, watch, games = Judge(), Stopwatch(), old_games(20000)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    board, moves = [0.0] * RING, 0
    with watch.loop():
        while watch.seconds() < 7:
            root = Node(None, board, 1.0)
            place = search(model, root)
            games.append((board, (place, random.choice((-1.0, 1.0)))))
            board = put(board, place)
            if sum(map(abs, board)) > RING - 4:
                board = [0.0] * RING
            root = None
            if moves % 3 == 2:
                with watch.planted():
                    gc.collect()
            for _ in range(UPDATES):
                drawn = random.choices(games, k=BATCH)
                policy, worth = model(torch.tensor([stones for stones, _ in drawn]))
                result = torch.tensor([ending for _, ending in drawn])
                loss = functional.cross_entropy(policy, result[:, 0].long()) + functional.mse_loss(worth, result[:, 1])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
            moves += 1
    print(f"{moves} moves, loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
