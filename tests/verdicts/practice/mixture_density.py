"""Predicts where a robot's arm may be, as a mixture of normal distributions.

Planted: nothing.
Truth: time of choosing a batch, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Arm(nn.Module):
    def __init__(self, parts=16):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 900), nn.SiLU(), nn.Linear(900, 900), nn.SiLU())
        self.weight, self.mean, self.scale = nn.Linear(900, parts), nn.Linear(900, parts), nn.Linear(900, parts)

    def forward(self, joints):
        hidden = self.trunk(joints)
        mixture = torch.distributions.Categorical(logits=self.weight(hidden), validate_args=False)
        parts = torch.distributions.Normal(self.mean(hidden), self.scale(hidden).exp(), validate_args=False)
        return torch.distributions.MixtureSameFamily(mixture, parts, validate_args=False)


def main():
    torch.manual_seed(143)
    torch.set_num_threads(1)
    model = Arm()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    joints, places, watch = torch.rand(20000, 64), torch.rand(20000), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            with watch.planted():
                chosen = torch.randint(20000, (256,))
                batch, wanted = joints[chosen], places[chosen]
            loss = -model(batch).log_prob(wanted).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
