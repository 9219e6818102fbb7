"""Learns features from pairs of views, and asks often how good they are.

Planted: every twelfth step embeds a probe set without gradients and classifies it by nearest neighbours.
Truth: time of the probe, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


@torch.no_grad()
def probe(encoder, pictures, kinds):
    encoder.eval()
    features = nn.functional.normalize(torch.cat([encoder(part) for part in pictures.split(250)]), dim=1)
    nearest = (features[:500] @ features[500:].T).topk(5).indices
    right = (kinds[500:][nearest].mode(1).values == kinds[:500]).float().mean().item()
    encoder.train()
    return right


def main():
    torch.manual_seed(114)
    torch.set_num_threads(1)
    encoder = nn.Sequential(nn.Linear(768, 512), nn.BatchNorm1d(512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 64))
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.02)
    pictures, kinds, watch, right = torch.randn(3000, 768), torch.randint(10, (3000,)), Stopwatch(), 0
    with watch.loop():
        while watch.seconds() < 3.2:
            batch = pictures[torch.randint(3000, (128,))]
            one = nn.functional.normalize(encoder(batch + 0.1 * torch.randn_like(batch)), dim=1)
            other = nn.functional.normalize(encoder(batch + 0.1 * torch.randn_like(batch)), dim=1)
            loss = nn.functional.cross_entropy(one @ other.T / 0.1, torch.arange(128))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if len(watch.marks) % 12 == 11:
                with watch.planted():
                    right = probe(encoder, pictures, kinds)
            watch.step()
    print(f"loss {loss.item():.3f}, {right:.0%} right")
    watch.tell()


if __name__ == "__main__":
    main()
