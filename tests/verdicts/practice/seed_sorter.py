"""An Ignite engine sorts seeds, with a running average of the loss and a short line now and then.

Planted: nothing.
Truth: time of the handlers, as a share of the loop.
"""
import torch
from ignite.engine import Engine, Events
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(61)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 24, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(24, 48, 5), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
                          nn.Flatten(), nn.Linear(192, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    seeds, kinds, watch = torch.rand(32, 3, 48, 48), torch.randint(6, (32,)), Stopwatch()

    def update(_, batch):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch[0]), batch[1])
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(update)
    mean = [0.0]

    @trainer.on(Events.ITERATION_COMPLETED)
    def average(engine):
        with watch.planted():
            mean[0] = 0.95 * mean[0] + 0.05 * engine.state.output
            if engine.state.iteration % 50 == 0:
                print(f"{engine.state.iteration}: {mean[0]:.4f}")
        watch.step()
        if watch.seconds() > 5:
            engine.terminate()

    with watch.loop():
        trainer.run([(seeds, kinds)] * 100, max_epochs=80)
    watch.tell()


if __name__ == "__main__":
    main()
