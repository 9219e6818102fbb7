"""A walking robot learns from old walks alone: two critics and a policy by advantages, batches by random places of a replay of tensors.

Planted: the trainer's log, of Python's logging, has level DEBUG, so after each step the weights' rows are formatted as text into debug.log.
Truth: time of the log, as a share of the loop.
"""
import copy
import logging

import torch
from torch import nn

from stopwatch import Stopwatch

SENSED, MOTORS, BATCH, WALKED = 34, 8, 512, 40000

log = logging.getLogger("gait")


def perceptron(entering, leaving, width=224):
    return nn.Sequential(nn.Linear(entering, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, leaving))


class Replay:
    def __init__(self):
        draw = torch.Generator().manual_seed(90)
        self.state = torch.randn(WALKED, SENSED, generator=draw)
        self.motor = torch.tanh(torch.randn(WALKED, MOTORS, generator=draw))
        self.reward = (self.state[:, :MOTORS] * self.motor).mean(1)
        self.draw = draw

    def sample(self):
        at = torch.randint(WALKED - 1, (BATCH,), generator=self.draw)
        return self.state[at], self.motor[at], self.reward[at], self.state[at + 1]


class Learner:
    def __init__(self):
        self.critics = nn.ModuleList(perceptron(SENSED + MOTORS, 1) for _ in range(2))
        self.value, self.policy = perceptron(SENSED, 1), perceptron(SENSED, MOTORS)
        self.targets = copy.deepcopy(self.critics).requires_grad_(False)
        everything = [*self.critics.parameters(), *self.value.parameters(), *self.policy.parameters()]
        self.optimizer = torch.optim.Adam(everything, lr=3e-4, fused=True)

    def learn(self, state, motor, reward, after):
        both = torch.cat([state, motor], 1)
        with torch.no_grad():
            best = torch.minimum(*(critic(both) for critic in self.targets))
            goal = reward[:, None] + 0.97 * self.value(after)
        value = self.value(state)
        ahead = best - value
        value_loss = ((ahead > 0) * 0.4 + 0.3).mul(ahead.square()).mean()
        critic_loss = sum((critic(both) - goal).square().mean() for critic in self.critics)
        trusted = (3 * ahead.detach()).exp().clamp(max=20)
        policy_loss = (trusted * (self.policy(state).tanh() - motor).square()).mean()
        loss = value_loss + critic_loss + policy_loss
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        torch._foreach_lerp_(list(self.targets.parameters()), list(self.critics.parameters()), 0.005)
        return loss

    def describe(self, loss):
        log.info("loss %.5f", loss)
        for name, layer in self.policy.named_parameters():
            for row in layer.detach().reshape(len(layer), -1)[::7]:
                log.debug("%s %s", name, " ".join(f"{weight:+.4f}" for weight in row.tolist()))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(5)
    handler = logging.FileHandler("debug.log", "w")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(funcName)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    learner, replay, watch = Learner(), Replay(), Stopwatch()
    with watch.loop():
        while watch.seconds() < 6:
            loss = learner.learn(*replay.sample())
            with watch.planted():
                learner.describe(loss.item())
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
