"""Trains an encoder without labels; its loss looks at the singular values of the features.

Planted: a decomposition into singular values takes most of each step.
Truth: time of the decomposition in the forward pass, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(111)
    torch.set_num_threads(1)
    encoder = nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 256))
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.01)
    pictures, watch = torch.randn(4000, 512), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            batch = pictures[torch.randint(4000, (320,))]
            one, other = encoder(batch), encoder(batch + 0.1 * torch.randn_like(batch))
            with torch.no_grad(), watch.planted():
                _, values, directions = torch.linalg.svd(one - one.mean(0), full_matrices=False)
            spread = ((other @ directions.T) / (values + 1)).pow(2).mean()
            loss = nn.functional.mse_loss(one, other) - 0.01 * spread
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
