"""Rock types along boreholes from logs of gamma rays, density and sound: a bidirectional stack of convolutions names each half metre. Inference.

Decoy: a reader's thread that naps but is far ahead, .item() once a batch, a cast to double of one row, a flushed line and a growing list, all of a moment.
Truth: time of getting the batch from the queue and of all these, as a share of the loop.
"""
import queue
import tempfile
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

try:
    from dwell import step as mark_step
except ImportError:  # not run under dwell
    def mark_step():
        pass

LOGS, DEPTHS, ROCKS, HOLES, WIDTH = 6, 512, 11, 12, 72
watch = Stopwatch()


class Namer(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = nn.Conv1d(LOGS, WIDTH, 9, padding=4)
        self.down = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, 5, padding=4) for _ in range(4))
        self.up = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, 5, padding=4) for _ in range(4))
        self.name = nn.Conv1d(2 * WIDTH, ROCKS, 1)

    def forward(self, logs):
        x = self.start(logs)
        below, above = x, x
        for down, up in zip(self.down, self.up):
            below = nn.functional.relu(down(below)[..., :DEPTHS]) + x
            above = nn.functional.relu(up(above)[..., 4:]) + x
        return self.name(torch.cat([below, above], 1))


def read(holes, ready, over):
    number = 0
    while not over.is_set():
        try:
            ready.put(holes[number % len(holes)], timeout=0.2)
        except queue.Full:
            continue
        number += 1
        if number % 20 == 0:
            time.sleep(0.01)


@torch.inference_mode()
def main():
    torch.manual_seed(55)
    torch.set_num_threads(1)
    holes = [torch.randn(HOLES, LOGS, DEPTHS) for _ in range(25)]
    namer = Namer().eval()
    namer(holes[0])
    ready, over = queue.Queue(12), threading.Event()
    reader = threading.Thread(target=read, args=(holes, ready, over), daemon=True)
    reader.start()
    time.sleep(0.05)
    sure = []
    with tempfile.TemporaryFile("w") as lines, watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                logs = ready.get()
            rocks = namer(logs)
            with watch.planted():
                sure.append(rocks[0, :, 0].double().softmax(0).max().item())
                if len(sure) % 15 == 0:
                    print(f"{sum(sure[-15:]) / 15:.4f}", file=lines, flush=True)
            watch.step()
            mark_step()
    over.set()
    reader.join()
    print(f"sure: {sum(sure) / len(sure):.3f}")
    watch.tell()


main()
