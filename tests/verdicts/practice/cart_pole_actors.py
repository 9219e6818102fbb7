"""Two processes play a game and send their rollouts; the loop learns from each.

Planted: the actors play more slowly than the loop learns.
Truth: time of waiting for a rollout, as a share of the loop.
"""
import queue
import time

import torch
import torch.multiprocessing as mp
from torch import nn

from stopwatch import Stopwatch


def play(number, rollouts, ended):
    torch.set_num_threads(1)
    game = torch.Generator().manual_seed(number)
    while not ended.is_set():
        time.sleep(0.04)  # the game's own clock
        rollout = torch.rand(128, 64, generator=game).numpy()
        try:
            rollouts.put(rollout, timeout=1)
        except queue.Full:
            pass
    rollouts.cancel_join_thread()


def main():
    torch.manual_seed(13)
    torch.set_num_threads(1)
    context = mp.get_context("fork")
    rollouts, ended = context.Queue(4), context.Event()
    actors = [context.Process(target=play, args=(number, rollouts, ended), daemon=True) for number in range(2)]
    for actor in actors:
        actor.start()
    policy = nn.Sequential(nn.Linear(64, 800), nn.Tanh(), nn.Linear(800, 800), nn.Tanh(), nn.Linear(800, 4))
    optimizer, watch = torch.optim.SGD(policy.parameters(), lr=1e-3), Stopwatch()
    rollouts.get()
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                rollout = rollouts.get()
            states = torch.from_numpy(rollout)
            loss = -policy(states).log_softmax(1)[:, 0].mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    ended.set()
    for actor in actors:
        actor.join(3)
    watch.tell()


if __name__ == "__main__":
    main()
