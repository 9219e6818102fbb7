"""Steers a kite by a small network that is found without gradients: an evolution strategy, all candidates at once by torch.func.

Clean: each generation runs thirty-two candidates through the same flight by vmap() of functional_call(); whole tensors, no Python loop per candidate.
Truth: nothing is planted; the time of ranking the candidates.
"""
import torch
from torch import nn
from torch.func import functional_call, vmap

from stopwatch import Stopwatch

CANDIDATES, KITES, STATE = 32, 64, 24


def steering():
    return nn.Sequential(nn.Linear(STATE, 128), nn.Hardtanh(), nn.Linear(128, 128), nn.Hardtanh(), nn.Linear(128, STATE))


@torch.no_grad()
def main():
    torch.set_num_threads(1)
    torch.manual_seed(14)
    watch = Stopwatch()
    network = steering().requires_grad_(False)
    centre = {name: p.clone() for name, p in network.named_parameters()}
    wind = torch.randn(STATE, STATE) / STATE ** 0.5
    start = torch.randn(KITES, STATE)

    def flight(parameters):
        state, height = start, 0.0
        for _ in range(6):
            state = 0.7 * (state @ wind) + 0.3 * functional_call(network, parameters, (state,))
            height = height + state[:, 0].mean() - 0.01 * state.square().mean()
        return height

    fly = vmap(flight)
    generator = torch.Generator().manual_seed(3)
    with watch.loop():
        for _ in watch.limited(range(100000), 6.5):
            noise = {name: torch.randn(CANDIDATES // 2, *p.shape, generator=generator) for name, p in centre.items()}
            noise = {name: torch.cat([n, -n]) for name, n in noise.items()}
            heights = fly({name: centre[name] + 0.05 * n for name, n in noise.items()})
            with watch.planted():
                rank = heights.argsort().argsort().float() / (CANDIDATES - 1) - 0.5
            for name, n in noise.items():
                centre[name] += 0.002 * torch.tensordot(rank, n, 1)
            watch.step()
    print(f"height {heights.max().item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
