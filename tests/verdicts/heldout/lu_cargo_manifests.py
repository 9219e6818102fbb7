"""Is what a manifest says of a container true? Slopes of each manifest on its own (vmap of grad) are clipped before they are added up, so that
no shipper can be told from the weights; the update is by hand.

Decoy: a loader's worker that naps and works in Python but is ahead, a thread that looks around with a lock, noise, a list of norms.
Truth: time of waiting for the loader and for the lock, as a share of the loop.
"""
import threading
import time

import torch
from torch.func import grad, vmap
from torch.utils.data import DataLoader, IterableDataset

from stopwatch import Stopwatch

FIELDS, WIDTH, BATCH, PARTS = 128, 192, 96, 8
watch = Stopwatch()


class Manifests(IterableDataset):
    def __iter__(self):
        made = torch.randn(BATCH * PARTS * 8, FIELDS, generator=torch.Generator().manual_seed(4)).split(BATCH * PARTS)
        for number in range(100000):
            time.sleep(0.002)
            says = made[number % 8]
            yield says, torch.tensor([float(one + other > 0) for one, other in says[:, :2].tolist()])


def false(weights, says, truth):
    first, second, third = weights
    x = torch.tanh(says @ first)
    x = x + torch.tanh(x @ second)
    return torch.nn.functional.binary_cross_entropy_with_logits(x @ third, truth)


class Office(threading.Thread):
    """Looks at the newest norm from time to time."""

    def __init__(self):
        super().__init__(daemon=True)
        self.lock, self.norms, self.open = threading.Lock(), [], True

    def run(self):
        while self.open:
            with self.lock:
                self.norms[:-1000] = []
            time.sleep(0.1)

    def add(self, norm):
        with self.lock:
            self.norms.append(norm)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(40)
    weights = (torch.randn(FIELDS, WIDTH) * 0.05, torch.randn(WIDTH, WIDTH) * 0.05, torch.randn(WIDTH) * 0.05)
    slopes_of_each = vmap(grad(false), in_dims=(None, 0, 0))
    loader = DataLoader(Manifests(), batch_size=None, num_workers=1, prefetch_factor=6)
    office = Office()
    office.start()
    batches = iter(loader)
    next(batches)
    with watch.loop():
        for _ in watch.limited(range(100000), 6):
            with watch.planted():
                says, truth = next(batches)
            for some, true in zip(says.split(BATCH), truth.split(BATCH)):
                slopes = slopes_of_each(weights, some, true)
                norms = torch.stack([slope.flatten(1).norm(dim=1) for slope in slopes]).norm(dim=0)
                scale = (1.0 / norms).clamp(max=1.0)
                for weight, slope in zip(weights, slopes):
                    weight.sub_(torch.tensordot(scale, slope, 1).add_(torch.randn_like(weight), alpha=0.02), alpha=0.05 / BATCH)
            with watch.planted():
                office.add(norms)
            watch.step()
    office.open = False
    print(f"norm {norms.mean().item():.4f}")
    watch.tell()


main()
