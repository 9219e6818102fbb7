"""Outside steps: what a training loop does between one step and the next, and before and after all of them.

The planted time is measured around the planted lines, in the loop's thread.

checkpoint     torch.save() of model and optimizer every few steps                   checkpoint
evaluation     the model on held-out batches, without gradients, every few steps     evaluation
each           the same after every step                                             evaluation
graphs         the same, but gradients stay enabled: every call builds a graph       evaluation-graphs, evaluation
logging        each step appends records to a log by the logging module              logging
metrics        Python counts words after each step                                   between-steps, python
operators      torch operators after each step: an exponential average of outputs    between-steps

Decoys: what looks alike
evaluate-first    a long evaluation before the loop
teacher           another model, in evaluation mode, makes targets after each step, as a part of training
evaluate-last     a long evaluation after the loop
save-last         one large checkpoint after the loop
save-small        a checkpoint every ten steps that takes next to no time
log-rarely        one line every twenty steps
count-first       Python counts words for a second before the loop
sleep-last        the program sleeps after the loop
"""
import logging
import os
import tempfile
import time

import torch

from planted import STEP_MS, Mixer, Run, Training, compute, images, wait

EVERY = 4

run = Run()
cause, ms = run.cause, run.ms()
folder = tempfile.TemporaryDirectory()


def evaluate(model, batches, gradients=False):
    model.eval()
    right = 0
    with torch.set_grad_enabled(gradients):
        for x, y in batches:
            right += (model(x).argmax(1) == y).sum().item()
    model.train()
    return right


def save(model, optimizer, ballast):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "ballast": ballast},
               os.path.join(folder.name, "checkpoint.pt"))


def file_logger():
    logger = logging.getLogger("training")
    handler = logging.FileHandler(os.path.join(folder.name, "log.txt"))
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    return logger


def main():
    training, held_out = Training(), images(16)
    model, batches = training.model, [images() for _ in range(8)]
    # To evaluate a batch takes about 40% of a step's time.
    rounds = max(1, round(ms * EVERY / (STEP_MS * run.speed * 0.4))) if ms else 0
    # A checkpoint takes about 1 ms for each MiB.
    ballast = torch.zeros(max(1, int(ms * EVERY / run.speed)), 1 << 18) if cause == "checkpoint" and ms else None
    teacher = Mixer().eval()
    average, logger = torch.zeros(1 << 18), file_logger()
    if cause == "evaluate-first":
        evaluate(model, [held_out] * 300)
    elif cause == "count-first":
        compute(1000)

    for number in run.steps():
        training.one(batches[number % 8])
        due = number % EVERY == EVERY - 1
        with run.planting():
            if cause == "checkpoint" and ballast is not None and due:
                save(model, training.optimizer, ballast)
            elif cause == "evaluation" and due:
                evaluate(model, [held_out] * rounds)
            elif cause == "each":
                evaluate(model, [held_out] * max(1, round(rounds / EVERY)))
            elif cause == "teacher":
                with torch.no_grad():
                    average[0] = teacher(batches[number % 8][0]).mean()
            elif cause == "graphs" and due:
                evaluate(model, [held_out] * rounds, gradients=True)
            elif cause == "logging":
                # A line takes about 9 us.
                for line in range(round(ms / run.speed / 0.009)):
                    logger.info("step %d value %d gradient norm %.5f", number, line, 0.1 * line)
            elif cause == "metrics":
                compute(run.ms())
            elif cause == "operators":
                end = time.perf_counter() + run.ms() / 1e3
                while time.perf_counter() < end:
                    average.mul_(0.99).add_(0.01)
            elif cause == "save-small" and number % 10 == 0:
                torch.save(model.head.state_dict(), os.path.join(folder.name, "head.pt"))
            elif cause == "log-rarely" and number % 20 == 0:
                logger.info("step %d", number)

    if cause == "evaluate-last":
        evaluate(model, [held_out] * 300)
    elif cause == "save-last":
        save(Mixer(), training.optimizer, torch.zeros(200, 1 << 18))
    elif cause == "sleep-last":
        wait(2000)
    run.close()


main()
