"""Tomorrow's load of substations from today's: a deep residual network as a pure function of its weights, with torch.func.grad_and_value.

Planted: Adam is written by hand as a loop over the dictionary of some two hundred weights, with some fifteen small operations for each.
Truth: time of the update, as a share of the loop.
"""
import torch
from torch.func import functional_call, grad_and_value

from stopwatch import Stopwatch

HOURS, WIDTH, BLOCKS, BATCH = 48, 72, 48, 160
watch = Stopwatch()


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + 0.1 * self.down(torch.nn.functional.silu(self.up(x)))


class Loads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.Sequential(torch.nn.Linear(HOURS, WIDTH), *[Block() for _ in range(BLOCKS)], torch.nn.Linear(WIDTH, 24))

    def forward(self, today):
        return self.blocks(today)


def adam(weights, slopes, first, second, average, step, rate=3e-4):
    """The next weights; `average` is a slow mean of them."""
    after = {}
    for name, weight in weights.items():
        slope = slopes[name]
        first[name] = 0.9 * first[name] + 0.1 * slope
        second[name] = 0.999 * second[name] + 0.001 * slope * slope
        mean = first[name] / (1 - 0.9 ** step)
        spread = second[name] / (1 - 0.999 ** step)
        after[name] = weight * (1 - rate * 0.01) - rate * mean / (spread.sqrt() + 1e-8)
        average[name] = 0.99 * average[name] + 0.01 * after[name]
    return after


def main():
    torch.set_num_threads(1)
    torch.manual_seed(12)
    model = Loads()
    weights = {name: weight.detach() for name, weight in model.named_parameters()}
    first = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    second = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    average = dict(weights)
    today = torch.rand(BATCH * 12, HOURS)
    tomorrow = today[:, :24] * 0.7 + today[:, 24:] * 0.3 + 0.05 * torch.randn(BATCH * 12, 24)

    def wrong(weights, today, tomorrow):
        return (functional_call(model, weights, (today,)) - tomorrow).square().mean()

    learn = grad_and_value(wrong)
    with watch.loop():
        for step in watch.limited(range(1, 100000), 6):
            rows = slice(step % 12 * BATCH, (step % 12 + 1) * BATCH)
            slopes, loss = learn(weights, today[rows], tomorrow[rows])
            with watch.planted():
                weights = adam(weights, slopes, first, second, average, step)
            watch.step()
    print(f"loss {loss.item():.5f}, {len(weights)} weights")
    watch.tell()


main()
