"""Plans ways through warehouses with a value iteration network.

Planted: nothing. Each step sleeps 0.2 ms for the robots' bus, hashes its batch, appends to a journal; each 50th saves the weights.
Truth: time of these chores, of the loop.
"""
import hashlib
import json
import os
import tempfile
import time

import torch
from torch import nn
from torch.nn import functional as F

from stopwatch import Stopwatch

SIZE, PLANES, ACTIONS, BATCH, TURNS = 24, 20, 8, 32, 16


class Planner(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Conv2d(2, 64, 3, padding=1)
        self.reward = nn.Conv2d(64, 1, 1)
        self.values = nn.Conv2d(2, PLANES, 3, padding=1, bias=False)
        self.choose = nn.Linear(PLANES, ACTIONS)

    def forward(self, maps, rows, columns):
        reward = self.reward(torch.relu(self.look(maps)))
        best = torch.zeros_like(reward)
        for _ in range(TURNS):
            planes = self.values(torch.cat([reward, best], 1))
            best = planes.amax(1, keepdim=True)
        return self.choose(planes[torch.arange(len(maps)), :, rows, columns])


def main():
    torch.manual_seed(88)
    maps = torch.stack([(torch.rand(600, SIZE, SIZE) < 0.25).float(), torch.rand(600, SIZE, SIZE)], 1)
    rows, columns = torch.randint(0, SIZE, (2, 600))
    moves = ((rows + columns) * 5 % ACTIONS).long()
    planner, watch = Planner(), Stopwatch()
    optimizer = torch.optim.RMSprop(planner.parameters(), lr=2e-4)
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "journal.jsonl"), "w", encoding="utf-8") as journal:
        with watch.loop():
            for step in watch.limited(range(100000), 6):
                chosen = torch.randint(0, 600, (BATCH,))
                loss = F.cross_entropy(planner(maps[chosen], rows[chosen], columns[chosen]), moves[chosen])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                with watch.planted():
                    digest = hashlib.blake2b(chosen.numpy().tobytes(), digest_size=8).hexdigest()
                    journal.write(json.dumps({"step": step, "loss": round(loss.item(), 4), "batch": digest}) + "\n")
                    journal.flush()
                    time.sleep(0.0002)
                    if step % 50 == 49:
                        torch.save(planner.state_dict(), os.path.join(folder, "planner.pt"))
                watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
