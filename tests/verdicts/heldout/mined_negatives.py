"""Finds leaves of the same tree: an embedding that is learned from triplets.

Planted: before each sixteenth step the whole catalogue is embedded and compared again to find the hardest negatives.
Truth: time of this search, of the loop.
"""
import torch
from torch import nn
from torch.profiler import record_function

from stopwatch import Stopwatch

LEAVES, TREES, FEATURES, SIZE, TRIPLETS, EVERY = 3000, 150, 512, 128, 64, 16


class Catalogue:
    def __init__(self):
        centres = torch.randn(TREES, FEATURES)
        self.trees = torch.arange(LEAVES) % TREES
        self.leaves = centres[self.trees] + torch.randn(LEAVES, FEATURES)
        self.hardest = torch.randint(0, LEAVES, (LEAVES, 10))

    @torch.no_grad()
    def mine(self, model):
        """For each leaf the ten of other trees that the model thinks are closest."""
        model.eval()
        places = nn.functional.normalize(torch.cat([model(part) for part in self.leaves.split(500)]), dim=1)
        alike = places @ places.t()
        alike.masked_fill_(self.trees[:, None] == self.trees, -2)
        self.hardest = alike.topk(10).indices
        model.train()

    def draw(self):
        anchor = torch.randint(0, LEAVES, (TRIPLETS,))
        positive = (anchor + TREES * torch.randint(1, LEAVES // TREES, (TRIPLETS,))) % LEAVES
        negative = self.hardest[anchor, torch.randint(0, 10, (TRIPLETS,))]
        return self.leaves[torch.cat([anchor, positive, negative])]


def embedding():
    return nn.Sequential(nn.Linear(FEATURES, 1024), nn.ReLU(), nn.Dropout(0.1), nn.Linear(1024, 512), nn.ReLU(),
                         nn.Linear(512, SIZE))


def train_step(model, optimizer, criterion, leaves):
    with record_function("forward"):
        anchor, positive, negative = nn.functional.normalize(model(leaves), dim=1).chunk(3)
        loss = criterion(anchor, positive, negative)
    with record_function("backward"):
        optimizer.zero_grad()
        loss.backward()
    with record_function("optimizer"):
        optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(27)
    watch = Stopwatch()
    catalogue, model = Catalogue(), embedding()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    criterion = nn.TripletMarginLoss(margin=0.3)
    mean = torch.zeros(())
    step = 0
    with watch.loop():
        while watch.seconds() < 6:
            if step % EVERY == 0:
                with watch.planted():
                    catalogue.mine(model)
            mean += 0.05 * (train_step(model, optimizer, criterion, catalogue.draw()) - mean)
            step += 1
            watch.step()
    print(f"mean loss {mean.item():.4f}")
    watch.tell(searches=(step + EVERY - 1) // EVERY)


if __name__ == "__main__":
    main()
