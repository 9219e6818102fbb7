#!/usr/bin/env python3
"""Ranks of PyTorch with gloo: four of them, one slow in a known way; and two of each launcher of PyTorch.

usage: gloo_test.py DWELL [ACCELERATE [PART-OF-A-NAME...]], with a Python that has PyTorch

examples/pytorch/ddp_ranks.py prints by its own clock how slow the rank was; the comparison must name the
rank, the part and the time within 10%. ACCELERATE is the folder with the packages of accelerate. The last line
is "N passed, N failed, N skipped".
"""
import glob
import importlib.util
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../probes"))
import again  # noqa: E402
import forked  # noqa: E402

dwell = os.path.abspath(sys.argv[1])
accelerate = sys.argv[2] if len(sys.argv) > 2 else ""
EXAMPLE = os.path.join(HERE, "../../examples/pytorch/ddp_ranks.py")
STEPS = 40
# The optimizer of each rank would import PyTorch's compiler, which takes longer than all of its steps.
FORKED = [sys.executable, "-c", f"import runpy, torch._dynamo; runpy.run_path({EXAMPLE!r}, run_name='__main__')", "--fork", "4"]
SERVER = forked.Server("torch._dynamo", "torch.distributed", "torch.utils.data", light=False)
# Lightning's own launcher starts the script again for each further rank.
LIGHTNING = """
import torch, sys
try:
    import lightning
except ImportError:
    import pytorch_lightning as lightning
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(32, 2)
    def training_step(self, batch, _):
        return self.net(batch).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), .01)
torch.set_num_threads(1)
lightning.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=1, logger=False,
                  enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False).fit(
    Model(), torch.utils.data.DataLoader(torch.ones(80, 32), batch_size=4))
"""


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dwell-gloo-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.trace = os.path.join(self.folder, "job.dwell")
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}

    def run_command(self, *command, **more):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240, cwd=self.folder,
                              env=dict(self.environment, **more))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def run_dwell(self, *command, **more):
        for path in glob.glob(os.path.join(self.folder, "*.dwell*")):
            os.remove(path)
        return self.run_command(dwell, "run", "-o", self.trace, "--", *command, **more)

    def tables(self, *traces):
        found = json.loads(self.run_command(dwell, "ranks", "--format", "json", *(traces or [self.trace])))
        return {view["part"]: [dict(zip([column["name"] for column in view["columns"]], row)) for row in view["rows"]]
                for view in found["views"]}


class Slow(Case):
    def record(self, *plan):
        for path in glob.glob(os.path.join(self.folder, "*.dwell*")):
            os.remove(path)
        done = SERVER.run(dwell, "-o", self.trace, script=os.path.abspath(EXAMPLE), env=self.environment,
                          arguments=["--fork", "4", str(STEPS), *map(str, plan)])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        planted = {int(rank): int(ns) for rank, ns in re.findall(r"planted (\d) (\d+)", done.stdout)}
        self.assertEqual(sorted(planted), [0, 1, 2, 3])
        return planted[2], self.tables()

    def check_slow_part(self, what, part):
        def near(found):
            planted, tables = found
            rows = [row for row in tables["ranks"] if row["slow"]]
            return (len(rows) == 1 and rows[0]["rank"] == 2 and rows[0]["part"] == part and
                    abs(rows[0]["part_excess_ns"] * STEPS / planted - 1) < .1)
        found = again.until(near, lambda: self.record(what, 2, 20))
        self.assertTrue(near(found), (found[0] / STEPS, found[1]["ranks"]))
        return found[1]

    def test_data(self):
        tables = self.check_slow_part("data", "data")
        self.assertEqual(self.tables(self.trace + ".sum"), tables)
        # The reducer's all-reduce is that of the gradients: four layers of 256 x 256 weights and 256 biases.
        rows = [row for row in tables["collectives"] if row["operation"] == "all_reduce" and row["count"]]
        self.assertEqual([(row["ranks"], row["count"], row["bytes"]) for row in rows],
                         [(4, STEPS, 4 * 4 * (256 * 256 + 256))])
        self.assertEqual(rows[0]["last_rank"], 2)
        self.assertGreater(rows[0]["wait_ns"], 10e6)

    def test_compute(self):
        tables = self.check_slow_part("compute", "forward")
        (row,) = (row for row in tables["ranks"] if row["slow"])
        self.assertEqual((row["layer"], row["name"]), ("DistributedDataParallel.module", "aten::mm"))

    def test_collector(self):
        self.check_slow_part("collector", "collector")

    def test_between_steps(self):
        self.check_slow_part("between", "between steps")
        said = subprocess.run([dwell, "ranks", self.trace], capture_output=True, text=True, check=True).stdout
        if (3, 11) <= sys.version_info < (3, 14):  # lines are known
            self.assertRegex(said, r"most of it between steps \(.* a step more\), (at|between) \w+\.py:\d+")

    def test_once(self):
        def near(found):
            planted, tables = found
            steps = tables.get("slow_steps", [])
            return (not any(row["slow"] for row in tables["ranks"]) and steps and steps[0]["rank"] == 2 and
                    steps[0]["step"] == 20 and steps[0]["part"] == "data" and
                    abs(steps[0]["excess_ns"] / planted - 1) < .1)
        found = again.until(near, lambda: self.record("once", 2, 300))
        self.assertTrue(near(found), found)

    def test_a_job_that_hangs(self):
        job = subprocess.Popen([dwell, "run", "-o", self.trace, "--", *FORKED, str(STEPS), "stop", "2", "600000"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=self.environment, start_new_session=True)

        def look():
            return subprocess.run([dwell, "ranks", self.trace], capture_output=True, text=True, check=False).stdout
        try:
            limit, said = time.monotonic() + 90, ""
            while "The job hangs" not in said and time.monotonic() < limit:
                time.sleep(.5)
                said = look()
        finally:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        for text in (said, look()):
            self.assertRegex(text, r"The job hangs: ranks 0, 1, 3 wait in DistributedDataParallel\.finalize_backward, "
                                   r"all_reduce number 2\d of group \w+, for ")
            self.assertRegex(text, r"Rank 2 did not enter it: it is .*step (19|20), without a record for ")


class Launchers(Case):
    def check_ranks(self, *traces, steps=30):
        tables = self.tables(*traces)
        self.assertEqual([row["rank"] for row in tables["ranks"]], [0, 1])
        # those whose operators were recorded, which are fewer on a busy machine
        self.assertTrue(all(row["steps"] >= steps // 2 for row in tables["ranks"]), tables["ranks"])
        rows = [row for row in tables["collectives"] if row["operation"] == "all_reduce"]
        self.assertTrue(any(row["ranks"] == 2 and row["count"] >= steps for row in rows), rows)
        for trace in traces or [self.trace]:
            if trace.endswith(".dwell"):
                self.assertIn(" of 2", self.run_command(dwell, "info", trace))

    def torchrun(self, *more):
        return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *more]

    def check_made_ranks(self):
        """Ranks that make_ranks makes of the recorded steps: as many as asked, one slow by three mean steps."""
        made = os.path.join(self.folder, "made")
        os.mkdir(made)
        self.run_command(os.path.join(os.path.dirname(dwell), "tests/ranks/make_ranks"), made, "8", "100", "like", self.trace,
                         "collectives", "1000", "slow", "5", "optimizer", "300")
        step_ns = sum(row["step_ns"] for row in self.tables()["ranks"]) / 2
        rows = self.tables(*(os.path.join(made, name) for name in sorted(os.listdir(made))))["ranks"]
        self.assertEqual([row["slow"] for row in rows], [0, 0, 0, 0, 0, 1, 0, 0])
        self.assertEqual(rows[5]["part"], "optimizer")
        self.assertAlmostEqual(rows[5]["part_excess_ns"] / step_ns, 3, delta=.6)

    def test_torchrun(self):
        self.run_dwell(*self.torchrun(EXAMPLE, "30"))
        self.check_ranks()
        self.check_made_ranks()

    def test_torchrun_starts_dwell(self):
        self.run_command(*self.torchrun(
            "--no-python", "sh", "-c",
            f"exec {shlex.quote(dwell)} run -o {self.folder}/rank$RANK.dwell -- {sys.executable} {shlex.quote(EXAMPLE)} 30"))
        traces = [os.path.join(self.folder, f"rank{rank}.dwell") for rank in range(2)]
        self.check_ranks(*traces)
        self.check_ranks(*(trace + ".sum" for trace in traces))

    def test_torchrun_starts_steps_of_a_function(self):
        """Of a native program, of which each rank calls train_step() 20 times."""
        program = os.path.join(os.path.dirname(dwell), "tests/cli/cli_entry")
        self.run_command(dwell, "run", "-o", self.trace, "--step-on", "train_step", "--", *self.torchrun("--no-python", program, "args"))
        rows = json.loads(self.run_command(dwell, "report", "--view", "steps", "--format", "json", self.trace))["views"][0]["rows"]
        self.assertEqual(len(rows), 2 * 20)

    def test_accelerate(self):
        if not os.path.isdir(os.path.join(accelerate, "accelerate")):
            self.skipTest("accelerate is missing: tools/venv --packages accelerate")
        self.run_dwell(sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2",
                       "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no", EXAMPLE, "30",
                       PYTHONPATH=accelerate)
        self.check_ranks()

    def test_lightning(self):
        if not any(importlib.util.find_spec(name) for name in ("lightning", "pytorch_lightning")):
            self.skipTest("Lightning is missing: tools/venv torch")
        script = os.path.join(self.folder, "fit.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(LIGHTNING)
        self.run_dwell(sys.executable, script)
        self.check_ranks(steps=10)


def main():
    suite = unittest.TestSuite()
    for case in (Slow, Launchers):
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(case):
            if len(sys.argv) < 4 or any(part in test.id() for part in sys.argv[3:]):
                suite.addTest(test)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    for test, why in result.skipped:
        print(f"skip {test.id()}: {why}")
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    return failed != 0


sys.exit(main())
