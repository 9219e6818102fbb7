"""Predicts the carbon of a soil core from its layers from top to bottom: a recurrent network over forty layers, inference only.

Clean: cores of one depth from memory, a batch a step, one thread.
Truth: 0.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


class Core(nn.Module):
    def __init__(self, facts, width):
        super().__init__()
        self.down = nn.LSTM(facts, width, num_layers=2)
        self.carbon = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, layers):
        states, _ = self.down(layers)
        return self.carbon(states[-1]).squeeze(1)


@torch.inference_mode()
def main():
    torch.manual_seed(12)
    torch.set_num_threads(1)
    cores = torch.randn(200, 40, 8, 9)
    model = Core(9, 256).eval()
    carbon = 0.0
    with watch.loop():
        for _ in watch.limited(range(100000), 6):
            carbon += model(cores[len(watch.marks) % 200]).sum().item()
            watch.step()
    print(f"carbon {carbon / len(watch.marks):.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
