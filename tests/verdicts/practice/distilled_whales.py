"""A small network learns whales' calls from a large one.

Decoy of evaluation: the teacher runs in each step, in eval mode and without gradients, and belongs to the step.
Truth: time of drawing calls, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(79)
    teacher = nn.Sequential(nn.Linear(400, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 30)).eval()
    student = nn.Sequential(nn.Linear(400, 512), nn.ReLU(), nn.Linear(512, 30))
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
    calls = torch.randn(4000, 400)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            with watch.planted():
                heard = calls[torch.randint(4000, (512,))]
            with torch.no_grad():
                soft = (teacher(heard) / 4).softmax(1)
            loss = nn.functional.kl_div((student(heard) / 4).log_softmax(1), soft, reduction="batchmean")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
