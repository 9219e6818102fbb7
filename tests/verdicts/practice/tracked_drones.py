"""Learns the noise of a Kalman filter that follows drones.

Planted: the filter takes some hundred operators on small matrices for each of 20 observations.
Truth: time of the filter and of its backward pass, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.motion = nn.Parameter(torch.eye(4) + 0.05 * torch.randn(4, 4))
        self.process, self.measure = nn.Parameter(torch.zeros(4)), nn.Parameter(torch.zeros(2))
        self.register_buffer("view", torch.eye(2, 4))

    def forward(self, observed):
        state, spread, loss = torch.zeros(len(observed), 4, 1), torch.eye(4).expand(len(observed), 4, 4), 0.0
        for place in observed.unbind(1):
            state = self.motion @ state
            spread = self.motion @ spread @ self.motion.T + torch.diag(self.process.exp())
            surprise = place[:, :, None] - self.view @ state
            total = self.view @ spread @ self.view.T + torch.diag(self.measure.exp())
            gain = spread @ self.view.T @ torch.linalg.inv(total)
            state = state + gain @ surprise
            spread = spread - gain @ self.view @ spread
            loss = loss + surprise.pow(2).mean()
        return loss


def main():
    torch.manual_seed(213)
    torch.set_num_threads(1)
    eye = nn.Sequential(nn.Linear(400, 600), nn.ReLU(), nn.Linear(600, 300), nn.ReLU(), nn.Linear(300, 2))
    follower = Filter()
    optimizer = torch.optim.SGD([*eye.parameters(), *follower.parameters()], lr=1e-3)
    films, watch = torch.randn(300, 20, 400), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            seen = eye(films[torch.randint(300, (20,))])
            places = seen.detach().requires_grad_()
            optimizer.zero_grad()
            with watch.planted():
                loss = follower(places)
                loss.backward()
            seen.backward(places.grad)
            nn.utils.clip_grad_norm_(follower.parameters(), 1.0)
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
