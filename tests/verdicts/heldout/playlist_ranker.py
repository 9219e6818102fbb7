"""Ranks songs for a playlist: a DataLoader without workers feeds two towers, and a teacher follows by averaging.

Planted: nothing. The loop loads its batches itself, clips gradients, averages weights and collects young garbage, all in a moment.
Truth: time of loading and of these chores but clipping, of the loop.
"""
import copy
import gc

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

from stopwatch import Stopwatch

SONGS, PLAYS, LENGTH, WIDE, BATCH = 5000, 40000, 40, 128, 192


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.songs = nn.Embedding(SONGS, WIDE)
        self.history = nn.GRU(WIDE, WIDE, batch_first=True)
        self.query = nn.Sequential(nn.Linear(WIDE, 2 * WIDE), nn.ReLU(), nn.Linear(2 * WIDE, WIDE))

    def forward(self, played, following):
        _, last = self.history(self.songs(played))
        return self.query(last[0]) @ self.songs(following).T


def follow(teacher, student, decay=0.995):
    with torch.no_grad():
        torch._foreach_lerp_(list(teacher.parameters()), list(student.parameters()), 1 - decay)


def main():
    torch.manual_seed(33)
    plays = TensorDataset(torch.randint(0, SONGS, (PLAYS, LENGTH)), torch.randint(0, SONGS, (PLAYS,)))
    loader = DataLoader(plays, sampler=BatchSampler(RandomSampler(plays), BATCH, drop_last=True), batch_size=None)
    student, watch = Ranker(), Stopwatch()
    teacher = copy.deepcopy(student).requires_grad_(False)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
    gc.freeze()
    with watch.loop():
        while watch.seconds() < 6:
            for played, following in watch.batches(loader):
                scores = student(played, following)
                loss = F.cross_entropy(scores, torch.arange(BATCH))
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(student.parameters(), 5.0)
                optimizer.step()
                with watch.planted():
                    follow(teacher, student)
                    gc.collect(0)
                watch.step()
                if watch.seconds() >= 6:
                    break
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
