"""Per-sample gradients of pebble shapes with torch.func, all at once.

Planted: nothing. vmap makes the gradients of a batch with few operators.
Truth: time of clipping the gradients, as a share of the loop.
"""
import torch
from torch import nn
from torch.func import functional_call, grad_and_value, vmap

from stopwatch import Stopwatch


def main():
    torch.manual_seed(16)
    watch = Stopwatch()
    model = nn.Sequential(nn.Conv2d(1, 24, 5), nn.ReLU(), nn.Conv2d(24, 24, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(24 * 12 * 12, 10))
    pebbles, kinds = torch.rand(512, 1, 32, 32), torch.randint(0, 10, (512,))
    weights = dict(model.named_parameters())

    def loss(weights, pebble, kind):
        return nn.functional.cross_entropy(functional_call(model, weights, pebble[None]), kind[None])

    gradients_of = vmap(grad_and_value(loss), in_dims=(None, 0, 0))
    optimizer = torch.optim.SGD(weights.values(), lr=0.01)
    with watch.loop():
        for number in range(10000):
            at = number * 16 % 512
            gradients, _losses = gradients_of({name: value.detach() for name, value in weights.items()}, pebbles[at:at + 16], kinds[at:at + 16])
            for name, value in weights.items():
                value.grad = gradients[name].mean(0)
            with watch.planted():
                for value in weights.values():
                    value.grad.clamp_(-1, 1)
            optimizer.step()
            watch.step()
            if watch.seconds() > 6:
                break
    watch.tell()


if __name__ == "__main__":
    main()
