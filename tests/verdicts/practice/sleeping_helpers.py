"""Learns to steer a greenhouse, with helpers that have nothing to do.

Decoy of too many threads and processes: three processes and sixteen threads exist beside the loop, and all of them wait.
Truth: time in which the loop's thread did not run though it wanted to, as a share of the loop.
"""
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

from stopwatch import Stopwatch


def delay_s():
    """How long this thread waited for a core."""
    with open("/proc/thread-self/schedstat", encoding="ascii") as file:
        return int(file.read().split()[1]) * 1e-9


def main():
    torch.manual_seed(244)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(600, 900), nn.ReLU(), nn.Linear(900, 500), nn.ReLU(), nn.Linear(500, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    greenhouse, watch = torch.randn(5000, 600), Stopwatch()
    helpers = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
    with ThreadPoolExecutor(16) as executor:
        list(executor.map(time.sleep, [0.05] * 16))  # starts all threads
        waited = delay_s()
        with watch.loop():
            while watch.seconds() < 3.4:
                chosen = torch.randint(5000, (224,))
                loss = nn.functional.mse_loss(model(greenhouse[chosen]), greenhouse[chosen, :8])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
        waited = delay_s() - waited
    for helper in helpers:
        helper.kill()
        helper.wait()
    print(f"loss {loss.item():.3f}")
    watch.tell(waited / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
