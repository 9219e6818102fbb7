"""Learns from a replay buffer that an actor fills from another thread.

Planted: the actor keeps the buffer's lock while it waits for its simulator, and the learner waits for the lock.
Truth: time of taking the lock, as a share of the loop.
"""
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch


class Buffer:
    def __init__(self, size=4000):
        self.lock = threading.Lock()
        self.states, self.values, self.place = torch.randn(size, 96), torch.randn(size, 1), 0

    def add(self, simulator):
        with self.lock:
            time.sleep(simulator)  # the simulator answers
            self.states[self.place] = torch.randn(96)
            self.place = (self.place + 1) % len(self.states)


def act(buffer, done):
    while not done.is_set():
        buffer.add(0.006)
        time.sleep(0.004)


def main():
    torch.manual_seed(48)
    torch.set_num_threads(1)
    buffer, done, watch = Buffer(), threading.Event(), Stopwatch()
    critic = nn.Sequential(nn.Linear(96, 320), nn.ReLU(), nn.Linear(320, 320), nn.ReLU(), nn.Linear(320, 1))
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.01)
    actor = threading.Thread(target=act, args=(buffer, done))
    actor.start()
    with watch.loop():
        while watch.seconds() < 3:
            chosen = torch.randint(len(buffer.states), (512,))
            with watch.planted():
                buffer.lock.acquire()
            states, values = buffer.states[chosen], buffer.values[chosen]
            buffer.lock.release()
            loss = nn.functional.mse_loss(critic(states), values)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    done.set()
    actor.join()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
