"""Trains a judge of diamonds in three phases.

Decoy of a change: each phase has another learning rate, another loss and another momentum, and its steps take as long as before.
Truth: time of changing the phase, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

PHASES = [(0.05, 0.9, nn.functional.mse_loss), (0.01, 0.8, nn.functional.smooth_l1_loss), (0.002, 0.5, nn.functional.l1_loss)]


def main():
    torch.manual_seed(242)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(500, 800), nn.ReLU(), nn.Linear(800, 800), nn.ReLU(), nn.Linear(800, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    diamonds, watch, phase = torch.randn(5000, 500), Stopwatch(), -1
    loss_of = nn.functional.mse_loss
    with watch.loop():
        while watch.seconds() < 3.6:
            with watch.planted():
                if phase < min(2, int(watch.seconds() / 1.2)):
                    phase += 1
                    rate, momentum, loss_of = PHASES[phase]
                    optimizer.param_groups[0].update(lr=rate, momentum=momentum)
            batch = diamonds[torch.randint(5000, (200,))]
            loss = loss_of(model(batch), batch[:, :4])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f} in phase {phase}")
    watch.tell()


if __name__ == "__main__":
    main()
