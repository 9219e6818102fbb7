"""Continues woven patterns of a loom, thread by thread: a mixer of many narrow blocks predicts the next row of a cloth.

Planted: an own optimizer (Adam with a trust ratio) goes over 130 small parameters one by one, a dozen operators for each.
Truth: time of the optimizer's step less what a fused step of Adam takes, of the loop.
"""
import time

import torch
from torch import nn

from stopwatch import Stopwatch

ROWS, THREADS, BATCH, DEPTH = 24, 64, 8, 16


class Weave(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(THREADS)
        self.across = nn.Linear(ROWS, ROWS)
        self.along = nn.Linear(THREADS, 2 * THREADS)
        self.back = nn.Linear(2 * THREADS, THREADS)
        self.gain = nn.Parameter(torch.ones(THREADS))
        self.offset = nn.Parameter(torch.zeros(THREADS))

    def forward(self, cloth):
        mixed = self.across(self.norm(cloth).transpose(1, 2)).transpose(1, 2)
        return cloth + self.gain * self.back(torch.relu(self.along(mixed))) + self.offset


class TrustAdam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "decay": decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            one, two = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["mean"], state["square"] = torch.zeros_like(p), torch.zeros_like(p)
                state["mean"] = one * state["mean"] + (1 - one) * p.grad
                state["square"] = two * state["square"] + (1 - two) * p.grad ** 2
                change = state["mean"] / (state["square"].sqrt() + 1e-8) + group["decay"] * p
                size, length = p.norm().item(), change.norm().item()
                trust = min(max(size / length, 0.1), 10.0) if size > 0 and length > 0 else 1.0
                p -= group["lr"] * trust * change


def fused_seconds(model):
    """What a step of PyTorch's fused Adam takes on as many parameters."""
    copies = [torch.randn_like(p).requires_grad_() for p in model.parameters()]
    for copy in copies:
        copy.grad = torch.randn_like(copy)
    fused = torch.optim.Adam(copies, lr=1e-3, fused=True)
    fused.step()
    began = time.perf_counter()
    for _ in range(10):
        fused.step()
    return (time.perf_counter() - began) / 10


def main():
    torch.manual_seed(14)
    torch.set_num_threads(1)
    blocks = [Weave() for _ in range(DEPTH)]
    model, watch = nn.Sequential(*blocks, nn.Linear(THREADS, THREADS)), Stopwatch()
    usual = fused_seconds(model)
    optimizer = TrustAdam(model.parameters())
    cloths = [(torch.rand(BATCH, ROWS + 1, THREADS) < torch.rand(BATCH, 1, THREADS)).float() for _ in range(50)]
    with watch.loop():
        while watch.seconds() < 6:
            cloth = cloths[len(watch.marks) % len(cloths)]
            loss = nn.functional.binary_cross_entropy_with_logits(model(cloth[:, :-1]), cloth[:, 1:])
            model.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    took = watch.ended - watch.began
    watch.tell((watch.planted_s - usual * len(watch.marks)) / took)


main()
