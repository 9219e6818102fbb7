#!/usr/bin/env python3
"""dwell.lightning under a real Trainer: every profiler, every stage, figures against Lightning's.

usage: lightning_test.py BUILD

Run by a Python that has Lightning and PyTorch. Calls equal those of Lightning's own
profiler in the same run, times of known sleeps agree within 5%; each stage counts its own
actions alone; functions of an action are there with their calls. The last line is "N passed,
N failed"; 77: cannot run here.
"""
import atexit
import io
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import again
import built

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
BUILD = os.path.abspath(sys.argv[1])
counts = {True: 0, False: 0}

built.enter(BUILD, "src/interfaces/compat/lightning")
warnings.filterwarnings("ignore")
try:
    import lightning.pytorch as pl
    import torch
    from torch.utils.data import DataLoader, Dataset
except ImportError as error:
    print(f"skip lightning_test: {error}")
    sys.exit(77)
sys.path.insert(0, os.path.join(ROOT, "python"))
import dwell.lightning as own  # noqa: E402


def check(good, what):
    counts[bool(good)] += 1
    if not good:
        print(f"FAILED: {what}")


class Ones(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.ones(4)


class Model(pl.LightningModule):
    def __init__(self, profiler):
        super().__init__()
        self.layer, self.profiler = torch.nn.Linear(4, 2), profiler

    def step(self, batch):
        with self.profiler.profile("my_custom_action"):
            time.sleep(0.03)
        return self.layer(batch).sum()

    def training_step(self, batch, index):
        return self.step(batch)

    def validation_step(self, batch, index):
        self.step(batch)

    def test_step(self, batch, index):
        self.step(batch)

    def predict_step(self, batch, index):
        return self.step(batch)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


class Both(own.SimpleProfiler):
    """Ours, and Lightning's within it."""

    def __init__(self):
        super().__init__()
        self.theirs, self.reports = pl.profilers.SimpleProfiler(), []

    def start(self, action):
        super().start(action)
        self.theirs.start(action)

    def stop(self, action):
        self.theirs.stop(action)
        super().stop(action)

    def setup(self, *args, **kwargs):
        self.theirs.recorded_durations.clear()  # what came before the stage
        super().setup(*args, **kwargs)

    def summary(self):
        text = super().summary()
        if text:
            self.reports.append((text, {action: list(times) for action, times in
                                        self.theirs.recorded_durations.items()}))
        return text


class Counts(own.BaseProfiler):
    """The documentation's own profiler, in short."""

    def __init__(self):
        super().__init__()
        self.counts = {}

    def stop(self, action):
        self.counts[action] = self.counts.get(action, 0) + 1

    def summary(self):
        return "\nProfile Summary: \n" + "".join(f"{a}\t{n}\n" for a, n in self.counts.items() if n > 1)


def train(profiler, stages=("fit", "validate", "test", "predict")):
    trainer = pl.Trainer(profiler=profiler, max_epochs=1, enable_progress_bar=False, logger=False,
                         enable_checkpointing=False, enable_model_summary=False, accelerator="cpu")
    data, model = DataLoader(Ones(), batch_size=2), Model(profiler)
    if "fit" in stages:
        trainer.fit(model, data, data)
    if "validate" in stages:
        trainer.validate(model, data, verbose=False)
    if "test" in stages:
        trainer.test(model, data, verbose=False)
    if "predict" in stages:
        trainer.predict(model, data)


def rows(report):
    found = {}
    for line in report.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0] not in ("Action", "Total"):
            found[cells[0]] = (int(cells[2]), float(cells[3]))
    return found


def quietly(function, *args):
    """What a function logs as Lightning does, which goes nowhere else meanwhile."""
    output, logger = io.StringIO(), logging.getLogger("lightning.pytorch.profilers.profiler")
    handler = logging.StreamHandler(output)
    logger.addHandler(handler)
    logger.propagate = False
    try:
        function(*args)
    finally:
        logger.removeHandler(handler)
        logger.propagate = True
    return output.getvalue()


def train_both():
    profiler = Both()
    return profiler, quietly(train, profiler)


def is_near(mine, times):
    """The two clocks of an action are read one after the other; between, another program may run."""
    return sum(times) <= 0.02 or abs(mine[1] - sum(times)) < 0.05 * sum(times)


def are_near(found):
    return all(is_near(rows(report).get(action, (0, 0)), times)
               for report, theirs in found[0].reports for action, times in theirs.items())


def test_simple():
    profiler, text = again.until(are_near, train_both)
    check(re.findall(r"(\w+) Profiler Report", text) == ["FIT", "VALIDATE", "TEST", "PREDICT"], "stages")
    check(len(profiler.reports) == 4, f"{len(profiler.reports)} reports")
    for report, theirs in profiler.reports:
        mine = rows(report)
        check({a: n for a, (n, _) in mine.items()} == {a: len(t) for a, t in theirs.items()},
              f"calls: {set(mine) ^ set(theirs)}")
        for action, times in theirs.items():
            if sum(times) > 0.02:
                check(is_near(mine[action], times),
                      f"{action}: {mine[action][1]} s, Lightning {sum(times)} s")


def test_others():
    quietly(train, own.PassThroughProfiler())
    quietly(train, own.XLAProfiler())
    text = quietly(train, Counts(), ("fit",))
    check("my_custom_action\t10\n" in text, "a profiler of one's own")
    profiler = own.SimpleProfiler()
    try:
        profiler.stop("never")
        check(False, "a stop without a start")
    except ValueError as error:
        check(str(error) == "Attempting to stop recording an action (never) which was never started.", error)
    with tempfile.TemporaryDirectory() as folder:
        profiler = own.SimpleProfiler(dirpath=os.path.join(folder, "a/b"), filename="perf", extended=False)
        quietly(train, profiler, ("fit", "test"))
        check(sorted(os.listdir(os.path.join(folder, "a/b"))) == ["fit-perf.txt", "test-perf.txt"], "files")


def record_run(kind, options):
    """(this script under `dwell run`, calls and seconds of its action in the trace)."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "run.dwell")
        done = subprocess.run([os.path.join(BUILD, "dwell"), "run", "--cost", "full", *options, "-o", trace, sys.executable,
                               os.path.abspath(__file__), BUILD, kind], capture_output=True, text=True,
                              check=False)
        report = subprocess.run([os.path.join(BUILD, "dwell"), "report", "--layout", "lightning", "--profile",
                                 "test", trace], capture_output=True, text=True, check=False)
    return done, *rows(report.stdout).get("my_custom_action", (0, 0))


def test_run(kind, options, wanted):
    done, calls, seconds = again.until(lambda found: found[2] < 0.18, lambda: record_run(kind, options))
    check(done.returncode == 0, done.stderr[-500:])
    for pattern in wanted:
        check(re.search(pattern, done.stderr), f"{kind}: no {pattern!r} in its report")
    check(calls == 4 and 0.12 <= seconds < 0.18, f"{kind}: {calls} calls in {seconds} s in the trace")


if len(sys.argv) > 2:
    train(getattr(own, sys.argv[2])())
    sys.exit(0)
FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
os.chdir(FOLDER)  # the traces
test_simple()
test_others()
test_run("PyTorchProfiler", [], [r"TEST Profiler Report\nProfile stats for: \[Strategy\]SingleDeviceStrategy.test_step\n-----",
                               r"aten::addmm .* 4  \n"])
test_run("AdvancedProfiler", ["--functions"],
         [r"Profile stats for: my_custom_action\n +\d+ function calls in 0\.1", r"\n +4 +0\.1\d\d .*time\.sleep"])
print(f"{counts[True]} passed, {counts[False]} failed")
sys.exit(counts[False] != 0)
