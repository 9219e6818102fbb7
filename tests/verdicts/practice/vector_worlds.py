"""An actor and a critic learn in 4096 worlds at once; the worlds are tensors.

Planted: nothing.
Truth: time of the worlds' moves, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh())
        self.actor, self.critic = nn.Linear(256, 4), nn.Linear(256, 1)

    def forward(self, worlds):
        hidden = self.body(worlds)
        return self.actor(hidden), self.critic(hidden).squeeze(1)


def main():
    torch.manual_seed(76)
    agent, worlds = Agent(), torch.randn(4096, 8)
    optimizer = torch.optim.SGD(agent.parameters(), lr=0.001)
    directions = torch.randn(4, 8) * 0.1
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            logits, values = agent(worlds)
            moves = torch.distributions.Categorical(logits=logits.detach()).sample()
            with watch.planted():
                worlds = (worlds + directions[moves]).clamp(-3, 3)
                rewards = -worlds[:, 0].abs()
            advantages = rewards - values
            chosen = logits.log_softmax(1).gather(1, moves[:, None]).squeeze(1)
            loss = advantages.pow(2).mean() - (chosen * advantages.detach()).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
