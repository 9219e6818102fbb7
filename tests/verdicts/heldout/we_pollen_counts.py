"""Counts pollen on slides: a small convolutional network, a season of slides at a time, as each season is weighed anew.

Planted: the loader is made without persistent workers and a season is only 12 batches, so two workers start anew for each.
Truth: time that the loop waits for the loader, of the loop; nearly all of it is the start of the workers.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Slides(Dataset):
    def __init__(self, count):
        self.pictures = torch.randint(0, 255, (count, 1, 48, 48), dtype=torch.uint8)
        self.counts = torch.randint(0, 30, (count,)).float()

    def __len__(self):
        return len(self.counts)

    def __getitem__(self, at):
        return self.pictures[at].float() / 255, self.counts[at]


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 1))

    def forward(self, slides):
        return self.body(slides).squeeze(-1).exp()


def seasons(slides, watch):
    season = 0
    while watch.seconds() < 6:
        order = torch.randperm(len(slides))[:12 * 16].tolist()
        yield DataLoader(torch.utils.data.Subset(slides, order), batch_size=16, num_workers=2)
        season += 1


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    slides, model, watch = Slides(2000), Counter(), Stopwatch()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    loss_of = nn.PoissonNLLLoss(log_input=False)
    with watch.loop():
        for loader in seasons(slides, watch):
            for pictures, counts in watch.batches(loader):
                loss = loss_of(model(pictures), counts)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    watch.tell(loss=round(loss.item(), 3))


if __name__ == "__main__":
    main()
