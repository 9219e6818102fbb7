"""Trains a student on the targets of a teacher whose weights follow the student's.

Decoy of an optimizer that dominates, and of checkpoints: each step moves all weights of the teacher, in a few large operators.
Truth: time of moving the teacher, as a share of the loop.
"""
import copy

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(151)
    torch.set_num_threads(1)
    student = nn.Sequential(nn.Linear(400, 700), nn.GELU(), nn.Linear(700, 700), nn.GELU(), nn.Linear(700, 100))
    teacher = copy.deepcopy(student).requires_grad_(False)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.01)
    rows, watch = torch.randn(9000, 400), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            batch = rows[torch.randint(9000, (320,))]
            target = teacher(batch).softmax(1)
            loss = nn.functional.cross_entropy(student(batch + 0.1 * torch.randn_like(batch)), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad(), watch.planted():
                torch._foreach_lerp_(list(teacher.parameters()), list(student.parameters()), 0.01)
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
