"""Fine-tunes 600 small adapters beside frozen layers.

Planted: AdamW updates one small tensor after another (foreach=False), a dozen operators for each.
Truth: time of optimizer.step(), as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

LAYERS, WIDTH, RANK = 12, 256, 4


class Adapted(nn.Module):
    """A frozen linear layer with low-rank adapters for several heads."""

    def __init__(self, heads=25):
        super().__init__()
        self.frozen = nn.Linear(WIDTH, WIDTH)
        self.frozen.requires_grad_(False)
        self.down = nn.ParameterList(nn.Parameter(torch.randn(WIDTH, RANK) * 0.02) for _ in range(heads))
        self.up = nn.ParameterList(nn.Parameter(torch.zeros(RANK, WIDTH)) for _ in range(heads))

    def forward(self, hidden):
        down, up = torch.cat(list(self.down), 1), torch.cat(list(self.up), 0)
        return torch.tanh(self.frozen(hidden) + hidden @ down @ up)


def main():
    torch.manual_seed(20)
    torch.set_num_threads(1)
    model = nn.Sequential(*(Adapted() for _ in range(LAYERS)), nn.Linear(WIDTH, 10))
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4, foreach=False)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 9:
            inputs, labels = torch.randn(256, WIDTH), torch.randint(10, (256,))
            loss = nn.functional.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}; {len(trained)} tensors")
    watch.tell()


if __name__ == "__main__":
    main()
