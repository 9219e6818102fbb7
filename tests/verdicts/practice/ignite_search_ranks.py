"""Ranks the results of a search with Ignite.

Planted: a handler counts, in plain Python and after each iteration, which pairs of results are in the wrong order.
Truth: time of counting, of the trainer's run.
"""
import torch
from ignite.engine import Engine, Events
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch


def discordant(scores, grades):
    wrong = 0
    for first, score in enumerate(scores):
        for second in range(first):
            if (score - scores[second]) * (grades[first] - grades[second]) < 0:
                wrong += 1
    return wrong


def main():
    torch.manual_seed(212)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(136, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    results = TensorDataset(torch.randn(40 * 120, 48, 136), torch.rand(40 * 120, 48))
    watch, history = Stopwatch(), []

    def update(_engine, batch):
        features, grades = batch
        scores = model(features)[..., 0]
        loss = nn.functional.kl_div(scores.log_softmax(1), grades.softmax(1), reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return scores.detach(), grades

    trainer = Engine(update)

    @trainer.on(Events.ITERATION_COMPLETED)
    def count_pairs(engine):
        with watch.planted():
            scores, grades = engine.state.output
            history.append(sum(map(discordant, scores.tolist(), grades.tolist())))

    @trainer.on(Events.ITERATION_COMPLETED)
    def end_step(_engine):
        watch.step()
        if watch.seconds() > 3.2:
            trainer.terminate()

    with watch.loop():
        trainer.run(DataLoader(results, batch_size=40), max_epochs=9)
    print(f"{history[-1]} pairs in the wrong order")
    watch.tell()


if __name__ == "__main__":
    main()
