"""Finds when the tide lets a deep ship over the bar: a network of dilated convolutions over water levels.

Decoy: a thread with a nap, a list of losses that grows, .item(), a permuted copy, a loop over parameters, a saved file, a trial
and a flushed line, all small.
Truth: time of all of these in the loop's thread, of the loop.
"""
import io
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

SHIPS, HOURS = 24, 192


class Bar(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.enter = nn.Conv1d(4, width, 1)
        self.reach = nn.ModuleList(nn.Conv1d(width, width, 3, padding=2 ** i, dilation=2 ** i) for i in range(5))
        self.leave = nn.Conv1d(width, 2, 1)

    def forward(self, levels):
        x = self.enter(levels)
        for conv in self.reach:
            x = x + torch.relu(conv(x))
        return self.leave(x)


def heartbeat(stop):
    while not stop.wait(0.2):
        time.sleep(0.01)


def levels(count, generator):
    """Batches of ships."""
    phase = torch.rand(count * SHIPS, 1, generator=generator, dtype=torch.float64) * 6.28
    tide = torch.sin(phase + torch.arange(HOURS) * 0.5)
    facts = torch.randn(count * SHIPS, 4, HOURS, generator=generator, dtype=torch.float64) * 0.2
    facts[:, 0] += tide
    return list(zip(facts.float().split(SHIPS), (tide > 0.4).long().split(SHIPS)))


def main():
    torch.manual_seed(4)
    generator, watch, model = torch.Generator().manual_seed(5), Stopwatch(), Bar()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    stop, losses, lock = threading.Event(), [], threading.Lock()
    beat = threading.Thread(target=heartbeat, args=(stop,), daemon=True)
    beat.start()
    *batches, trial = levels(160, generator)
    with watch.loop():
        while watch.seconds() < 6:
            number = len(watch.marks)
            facts, open_ = batches[number % len(batches)]
            loss = nn.functional.cross_entropy(model(facts), open_)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                with lock:
                    losses.append(loss.item())
                if number % 20 == 10:
                    norm = sum(float(p.grad.norm()) for p in model.parameters())
                    print(f"{number} {losses[-1]:.4f} {norm:.2f} {facts.permute(0, 2, 1).contiguous()[0, 0, 0]:.2f}", flush=True)
                if number % 100 == 50:
                    torch.save(model.state_dict(), io.BytesIO())
                if number % 100 == 75:
                    model.eval()
                    with torch.no_grad():
                        model(trial[0])
                    model.train()
            watch.step()
    stop.set()
    beat.join()
    watch.tell()


main()
