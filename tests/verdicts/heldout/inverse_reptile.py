"""Learns the inverse dynamics of many robot arms with Reptile: a few steps on one arm, then a step toward what was found.

Planted: each arm gets a network of its own with copy.deepcopy(), module by module.
Truth: time of the copies, of the loop.
"""
import copy

import torch
from torch import nn

from stopwatch import Stopwatch

JOINTS, UNITS, ARMS_PER_STEP, INNER_STEPS, SAMPLES = 7, 96, 3, 2, 56


class Block(nn.Module):
    def __init__(self, units):
        super().__init__()
        self.norm = nn.LayerNorm(units)
        self.widen = nn.Linear(units, 2 * units)
        self.gate = nn.GELU()
        self.narrow = nn.Linear(2 * units, units)

    def forward(self, state):
        return state + self.narrow(self.gate(self.widen(self.norm(state))))


class InverseDynamics(nn.Module):
    def __init__(self, blocks=9):
        super().__init__()
        self.enter = nn.Linear(3 * JOINTS, UNITS)
        self.blocks = nn.ModuleList(Block(UNITS) for _ in range(blocks))
        self.leave = nn.Linear(UNITS, JOINTS)

    def forward(self, motion):
        state = self.enter(motion)
        for block in self.blocks:
            state = block(state)
        return self.leave(state)


class Arm:
    """An arm with masses of its own."""

    def __init__(self, generator):
        self.inertia = torch.randn(3 * JOINTS, JOINTS, generator=generator) * 0.4
        self.friction = torch.rand(JOINTS, generator=generator)

    def moves(self, count):
        motion = torch.randn(count, 3 * JOINTS)
        return motion, motion @ self.inertia + self.friction * motion[:, JOINTS:2 * JOINTS].sign()


def adapt(student, arm):
    weights = list(student.parameters())
    for _ in range(INNER_STEPS):
        motion, torque = arm.moves(SAMPLES)
        loss = nn.functional.mse_loss(student(motion), torque)
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            torch._foreach_add_(weights, gradients, alpha=-0.02)
    return loss.detach(), [weight.detach() for weight in weights]


def main():
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(1)
    arms = [Arm(generator) for _ in range(50)]
    teacher = InverseDynamics()
    optimizer = torch.optim.SGD(teacher.parameters(), lr=0.1)
    watch = Stopwatch()
    with watch.loop():
        for step in watch.limited(range(100000), 6):
            optimizer.zero_grad()
            for number in range(ARMS_PER_STEP):
                with watch.planted():
                    student = copy.deepcopy(teacher)
                loss, found = adapt(student, arms[(step * ARMS_PER_STEP + number) % len(arms)])
                for weight, better in zip(teacher.parameters(), found):
                    change = (weight.detach() - better) / ARMS_PER_STEP
                    weight.grad = change if weight.grad is None else weight.grad.add_(change)
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
