"""Reads old tablatures of the lute, line by line, with Ignite: a recurrent network over columns of a picture.

Planted: after each iteration a handler compares what was read with what is written by an edit distance in Python.
Truth: time of the handler, of the loop.
"""
import torch
from ignite.engine import Engine, Events
from torch import nn

from stopwatch import Stopwatch

COLUMNS, ROWS, SIGNS, BATCH = 60, 48, 30, 16


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.columns = nn.Sequential(nn.Conv1d(ROWS, 96, 5, padding=2), nn.ReLU(), nn.Conv1d(96, 96, 5, padding=2), nn.ReLU())
        self.read = nn.GRU(96, 96, batch_first=True)
        self.sign = nn.Linear(96, SIGNS)

    def forward(self, lines):
        return self.sign(self.read(self.columns(lines).transpose(1, 2))[0])


def edit_distance(said, written):
    row = list(range(len(written) + 1))
    for i, sign in enumerate(said, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(written, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (sign != other))
    return row[-1]


def main():
    torch.manual_seed(2)
    watch, model = Stopwatch(), Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    lines = torch.randn(256, ROWS, COLUMNS)
    tabs = torch.randint(0, SIGNS, (256, COLUMNS))

    def read_batch(engine, at):
        model.train()
        logits = model(lines[at:at + BATCH])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tabs[at:at + BATCH].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        return {"loss": loss.item(), "signs": logits.detach().argmax(-1), "tabs": tabs[at:at + BATCH]}

    trainer = Engine(read_batch)
    errors = {"wrong": 0, "signs": 0}

    @trainer.on(Events.ITERATION_COMPLETED)
    def count_errors(engine):
        with watch.planted():
            for said, written in zip(engine.state.output["signs"].tolist(), engine.state.output["tabs"].tolist()):
                errors["wrong"] += edit_distance(said, written)
                errors["signs"] += len(written)
        watch.step()
        if watch.seconds() > 7:
            engine.terminate()

    with watch.loop():
        trainer.run([at for at in range(0, 256, BATCH)] * 20, max_epochs=50)
    print(f"{errors['wrong'] / errors['signs']:.2f} errors a sign")
    watch.tell()


if __name__ == "__main__":
    main()
