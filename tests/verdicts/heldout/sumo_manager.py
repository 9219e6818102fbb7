"""Learns to switch traffic lights from what simulated crossings did.

Planted: the replay memory is a list of multiprocessing.Manager, so each of 64 transitions is a question to its process.
Truth: time of sampling a batch, of the loop.
"""
import multiprocessing
import random
import time

import numpy as np
import torch
from torch import nn

from stopwatch import Stopwatch

LANES, LIGHTS, BATCH, KEPT = 64, 8, 64, 3000


def drive(memory, over):
    """A crossing: tells what happened, ten times a second."""
    source = np.random.default_rng(12)
    while not over.is_set():
        queue = source.random(LANES, dtype=np.float32)
        memory[random.randrange(KEPT)] = (queue, int(source.integers(LIGHTS)), float(-queue.sum()), queue[::-1].copy())
        time.sleep(0.1)


def first_memories():
    source = np.random.default_rng(11)
    return [(source.random(LANES, dtype=np.float32), number % LIGHTS, -float(number % 40), source.random(LANES, dtype=np.float32))
            for number in range(KEPT)]


def sample(memory):
    chosen = [memory[random.randrange(KEPT)] for _ in range(BATCH)]
    before, light, reward, after = zip(*chosen)
    return (torch.from_numpy(np.stack(before)), torch.tensor(light), torch.tensor(reward),
            torch.from_numpy(np.stack(after)))


def make_values():
    return nn.Sequential(nn.Linear(LANES, 640), nn.ReLU(), nn.Linear(640, 640), nn.ReLU(), nn.Linear(640, 640), nn.ReLU(),
                         nn.Linear(640, LIGHTS))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(12)
    random.seed(12)
    watch = Stopwatch()
    with multiprocessing.Manager() as manager:
        memory, over = manager.list(first_memories()), multiprocessing.Event()
        crossing = multiprocessing.Process(target=drive, args=(memory, over), daemon=True)
        crossing.start()
        values, target = make_values(), make_values()
        target.load_state_dict(values.state_dict())
        optimizer = torch.optim.SGD(values.parameters(), lr=1e-3)
        step = 0
        with watch.loop():
            while watch.seconds() < 7:
                with watch.planted():
                    before, light, reward, after = sample(memory)
                with torch.no_grad():
                    hoped = reward + 0.97 * target(after).max(1).values
                expected = values(before).gather(1, light.unsqueeze(1)).squeeze(1)
                loss = nn.functional.smooth_l1_loss(expected, hoped)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
                if step % 200 == 0:
                    target.load_state_dict(values.state_dict())
                watch.step()
        over.set()
        crossing.join()
    print(f"loss {loss.item():.3f} after {step} steps")
    watch.tell()


if __name__ == "__main__":
    main()
