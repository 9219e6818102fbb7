"""Dates pieces of amber from infrared spectra with an ensemble: six networks are trained at once, stacked by torch.func.

Clean: vmap() over the members, one backward, fused AdamW over stacked parameters, batches cut from tensors in memory.
Truth: time of choosing rows for a batch, of the loop.
"""
import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

from stopwatch import Stopwatch

MEMBERS, BANDS, BATCH = 6, 180, 256


def spectra(count):
    age = torch.rand(count, 1) * 90
    band = torch.linspace(0, 1, BANDS)
    shape = torch.exp(-((band - 0.3) ** 2) * (20 + age)) + 0.4 * torch.exp(-((band - 0.7) ** 2) * (90 - age + 5))
    return shape + 0.05 * torch.randn(count, BANDS), age / 90


def main():
    torch.manual_seed(23)
    members = [nn.Sequential(nn.Linear(BANDS, 320), nn.SiLU(), nn.Linear(320, 320), nn.SiLU(), nn.Linear(320, 320), nn.SiLU(),
                             nn.Linear(320, 2)) for _ in range(MEMBERS)]
    skeleton = copy.deepcopy(members[0]).to("meta")
    params, buffers = stack_module_state(members)
    optimizer = torch.optim.AdamW(params.values(), lr=5e-4, fused=True)

    def likelihood(params, buffers, x, y):
        mean, spread = functional_call(skeleton, (params, buffers), (x,)).chunk(2, 1)
        spread = nn.functional.softplus(spread) + 1e-3
        return (((y - mean) / spread) ** 2 / 2 + spread.log()).mean()

    each_member = vmap(likelihood, in_dims=(0, 0, 0, 0), randomness="different")
    x, y = spectra(6000)
    each_member(params, buffers, x[:12].view(MEMBERS, 2, BANDS), y[:12].view(MEMBERS, 2, 1))
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 6.5:
            with watch.planted():
                rows = torch.randint(len(x), (MEMBERS, BATCH))
                spectrum, age = x[rows], y[rows]
            losses = each_member(params, buffers, spectrum, age)
            optimizer.zero_grad()
            losses.sum().backward()
            optimizer.step()
            watch.step()
    print("losses", " ".join(f"{loss:.3f}" for loss in losses.tolist()))
    watch.tell()


if __name__ == "__main__":
    main()
