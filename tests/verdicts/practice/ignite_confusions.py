"""Learns to read street signs with Ignite, and keeps a table of what was taken for what.

Planted: a handler counts confusions and doubts in Python after each iteration.
Truth: time of the handler, as a share of the loop.
"""
import collections
import math

import torch
from ignite.engine import Engine, Events
from torch import nn

from stopwatch import Stopwatch

SIGNS = 43


def main():
    torch.manual_seed(69)
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 24 * 24, 384), nn.ReLU(), nn.Linear(384, SIGNS))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    signs, kinds = torch.rand(4096, 3, 24, 24), torch.randint(SIGNS, (4096,))
    watch, table = Stopwatch(), collections.Counter()

    def train(_engine, chosen):
        model.train()
        scores = model(signs[chosen])
        loss = nn.functional.cross_entropy(scores, kinds[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return {"scores": scores.detach(), "kinds": kinds[chosen], "loss": loss.item()}

    trainer = Engine(train)

    @trainer.on(Events.ITERATION_COMPLETED)
    def confusions(engine):
        with watch.planted():
            doubts = []
            for scores, kind in zip(engine.state.output["scores"].tolist(), engine.state.output["kinds"].tolist()):
                order = sorted(range(SIGNS), key=scores.__getitem__, reverse=True)
                table[kind, order[0]] += 1
                weights = [math.exp(score - scores[order[0]]) for score in scores]
                total = sum(weights)
                doubts.append(-sum(weight / total * math.log(weight + 1e-9) for weight in weights))
            worst = {}
            for (kind, taken), count in table.items():
                if kind != taken and count > worst.get(kind, (0, 0))[0]:
                    worst[kind] = (count, taken)
            for kind in range(SIGNS):
                seen = sum(table[kind, taken] for taken in range(SIGNS))
                worst[kind] = worst.get(kind, (0, 0))[0] / (seen + 1)
        watch.step()
        if watch.seconds() > 3:
            engine.terminate()

    with watch.loop():
        trainer.run([torch.randint(4096, (192,)) for _ in range(100)], max_epochs=50)
    print(f"loss {trainer.state.output['loss']:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
