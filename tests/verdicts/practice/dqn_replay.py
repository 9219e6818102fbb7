"""Learns to steer with deep Q-learning from a replay buffer.

Decoy of memory that grows: the buffer grows by 0.8 MB a step, but only until it is full, in the first third of the run.
Truth: time of the environment and the buffer, as a share of the loop. `growth_after_mb`: growth in the last half of it.
"""
import collections
import resource

import torch
from torch import nn

from stopwatch import Stopwatch

OBSERVED, BATCH, CARS = 768, 256, 256


def resident_bytes():
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Road:
    """256 cars at once."""

    def __init__(self):
        self.state = torch.randn(CARS, OBSERVED)
        self.turn = torch.randn(5, OBSERVED) * 0.1

    def step(self, actions):
        before = self.state
        self.state = before * 0.98 + self.turn[actions]
        return before, actions, -self.state[:, :2].abs().sum(1), self.state


def network():
    return nn.Sequential(nn.Linear(OBSERVED, 1536), nn.ReLU(), nn.Linear(1536, 1024), nn.ReLU(), nn.Linear(1024, 5))


def main():
    torch.manual_seed(34)
    road, policy, target = Road(), network(), network()
    target.load_state_dict(policy.state_dict())
    optimizer = torch.optim.SGD(policy.parameters(), lr=1e-3)
    watch, half = Stopwatch(), 0
    buffer = collections.deque(maxlen=40)
    with watch.loop():
        while watch.seconds() < 10:
            with torch.no_grad():
                actions = policy(road.state).argmax(1)
            with watch.planted():
                buffer.append(road.step(actions))
                place = torch.randint(len(buffer), ()).item()
                rows = torch.randint(CARS, (BATCH,))
                state, action, reward, following = (part[rows] for part in buffer[place])
            with torch.no_grad():
                goal = reward + 0.97 * target(following).amax(1)
            value = policy(state).gather(1, action.unsqueeze(1)).squeeze(1)
            loss = nn.functional.smooth_l1_loss(value, goal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            if not half and watch.seconds() > 5:
                half = resident_bytes()
    print(f"loss {loss.item():.3f}; the buffer holds {len(buffer)} steps")
    watch.tell(growth_after_mb=round((resident_bytes() - half) / 1e6))


if __name__ == "__main__":
    main()
