#!/usr/bin/env python3
"""The scripts of examples/slurm under Debian's Slurm, on two simulated nodes: ranks, hosts, watch and capture.

usage: slurm_test.py BUILD [PYTHON [PART-OF-A-NAME...]]        last line: N passed, N failed, N skipped

PYTHON has torch, and torchrun next to it; without it what needs it is skipped.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import mpi_installed
import slurm_here

BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
PYTHON = sys.argv[2] if len(sys.argv) > 2 else ""
EXAMPLES = os.path.join(mpi_installed.ROOT, "examples")
# cli_entry calls train_step() 20 times.
STEPS = """#!/bin/bash
#SBATCH --nodes=1 --ntasks=2
dwell run -o before.dwell --step-on train_step -- srun -n 2 "$PROGRAM" args
srun -n 2 sh -c 'dwell run -o each$SLURM_PROCID.dwell --step-on train_step -- "$PROGRAM" args'
"""


def dwell(*words, status=0):
    done = subprocess.run([DWELL, *words], capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != status:
        raise AssertionError(f"{words}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class Jobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        why = slurm_here.missing()
        if why:
            raise unittest.SkipTest(why)
        folder = tempfile.TemporaryDirectory(prefix="dwell-slurm-")
        cls.addClassCleanup(folder.cleanup)
        os.mkdir(os.path.join(folder.name, "daemons"))
        cls.slurm = slurm_here.Slurm(os.path.join(folder.name, "daemons"))
        cls.addClassCleanup(cls.slurm.stop)
        if not cls.slurm.start():
            raise unittest.SkipTest("Slurm does not start here: " + (cls.slurm.log().splitlines() or ["no word"])[-1])
        cls.home = folder.name

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.home)
        os.mkdir(os.path.join(self.folder, "local"))
        os.chmod(self.folder, 0o755)

    def submit(self, script, *words, changes=(), **variables):
        """Submits an example with a summary each second, and what only two nodes on one machine need."""
        with open(os.path.join(EXAMPLES, "slurm", script), encoding="utf-8") as file:
            text = file.read()
        for old, new in (("--summary-every 30s", "--summary-every 1s"), *changes):
            self.assertIn(old, text)
            text = text.replace(old, new)
        with open(os.path.join(self.folder, script), "w", encoding="utf-8") as file:
            file.write(text)
        path = os.pathsep.join([BUILD, os.path.dirname(PYTHON), os.environ["PATH"]])
        self.job = self.slurm.submit(self.folder, script, *words, PATH=path, TMPDIR=os.path.join(self.folder, "local"),
                                     GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1", **variables)
        self.results = os.path.join(self.folder, f"dwell-{self.job}")

    def printed(self):
        with open(os.path.join(self.folder, f"{self.job}.out"), encoding="utf-8") as file:
            return file.read()

    def wait_for_summaries(self, count):
        found = self.slurm.wait(lambda: len(glob.glob(self.results + "/*.sum")) == count or self.slurm.has_ended(self.job), 120)
        self.assertTrue(found and not self.slurm.has_ended(self.job), self.printed())

    def wait_for_end(self):
        self.assertTrue(self.slurm.wait(lambda: self.slurm.has_ended(self.job), 120), self.printed())
        self.assertEqual(glob.glob(os.path.join(self.folder, "local/job*")), [], self.printed())
        self.assertEqual(glob.glob(self.results + "/*.where"), [])

    def cancel(self):
        """What Slurm does at a time limit, too: SIGTERM, and SIGKILL after KillWait."""
        self.slurm.output("scancel", str(self.job))
        self.wait_for_end()

    def check_ranks(self, files, slow):
        """Ranks 0 and 1 are on node1, 2 and 3 on node2."""
        views = {view["part"]: view for view in json.loads(dwell("ranks", "-f", "json", *files))["views"]}
        names = [column["name"] for column in views["ranks"]["columns"]]
        rows = [dict(zip(names, row)) for row in views["ranks"]["rows"]]
        self.assertEqual([(row["rank"], row["host"]) for row in rows],
                         [(0, "node1"), (1, "node1"), (2, "node2"), (3, "node2")], self.printed())
        self.assertEqual(max(rows, key=lambda row: row["delay_ns"])["rank"], slow, rows)

    def check_watch_and_capture(self, traces):
        figures = os.path.join(self.folder, "figures")
        self.assertEqual(dwell("watch", "--once", "--metrics", figures, self.results), "")
        with open(figures, encoding="utf-8") as file:
            runs = set(re.findall(r'dwell_steps_total{run="([^"]*)",rank="(\d)",host="([^"]*)"}', file.read()))
        self.assertEqual(runs, {(f"{self.job}.0", str(rank), f"node{1 + rank // 2}") for rank in range(4)})
        for _ in range(5):  # on a busy machine a capture may end without a whole step
            captured = dwell("capture", "--steps", "2", self.results)
            found = re.findall(r"^(ranks? .*) on (\S+): steps? \d.* in (\S+)$", captured, re.M)
            if len(found) == traces:
                return found
        raise AssertionError(captured)

    @unittest.skipUnless(PYTHON, "no Python with torch is given")
    def test_torchrun_on_two_nodes(self):
        self.submit("many-nodes.sbatch", os.path.join(EXAMPLES, "pytorch/ddp_ranks.py"), "100000", "data", "2", "20",
                    changes=[('$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)', "127.0.0.1")], RANKS_PER_NODE="2")
        self.wait_for_summaries(2)
        found = self.check_watch_and_capture(2)
        self.assertEqual([one[:2] for one in sorted(found)], [("ranks 0 to 1", "node1"), ("ranks 2 to 3", "node2")])
        self.check_ranks([one[2] for one in found], 2)
        self.cancel()
        self.check_ranks([f"{self.results}/job{self.job}.node{node}.dwell" for node in range(2)], 2)

    @unittest.skipIf(mpi_installed.missing("MPICH"), mpi_installed.missing("MPICH"))
    def test_mpi_on_two_nodes(self):
        program = os.path.join(self.folder, "mpi_ranks")
        mpi_installed.compile_program("MPICH", os.path.join(EXAMPLES, "mpi_ranks.c"), BUILD, program)
        self.submit("mpi.sbatch", program, "100000", "data", "2", "20", MPI="pmi2")
        self.wait_for_summaries(4)
        found = self.check_watch_and_capture(4)
        self.assertEqual([one[:2] for one in sorted(found)], [(f"rank {rank}", f"node{1 + rank // 2}") for rank in range(4)])
        self.cancel()
        self.check_ranks([f"{self.results}/job{self.job}.rank{rank}.dwell.sum" for rank in range(4)], 2)

    def test_steps_of_a_function_behind_srun(self):
        """dwell run before srun, and srun before dwell run: each process has the steps, and exactly as many."""
        with open(os.path.join(self.folder, "steps.sbatch"), "w", encoding="utf-8") as file:
            file.write(STEPS)
        program = os.path.join(BUILD, "tests/cli/cli_entry")
        self.job = self.slurm.submit(self.folder, "steps.sbatch", PATH=os.pathsep.join([BUILD, os.environ["PATH"]]), PROGRAM=program,
                                     TMPDIR=os.path.join(self.folder, "local"))
        self.results = self.folder
        self.wait_for_end()
        traces = sorted(glob.glob(os.path.join(self.folder, "*.dwell")))
        self.assertEqual([os.path.basename(trace) for trace in traces], ["before.dwell", "each0.dwell", "each1.dwell"], self.printed())
        steps = [json.loads(dwell("report", "--view", "steps", "-f", "json", trace))["views"][0]["rows"] for trace in traces]
        self.assertEqual([len(rows) for rows in steps], [2 * 20, 20, 20], self.printed())

    @unittest.skipUnless(PYTHON, "no Python with torch is given")
    def test_torchrun_on_one_node(self):
        self.submit("one-node.sbatch", os.path.join(EXAMPLES, "pytorch/ddp_ranks.py"), "40", RANKS_PER_NODE="2",
                    changes=[("--standalone", "--standalone --local-addr 127.0.0.1")])
        self.wait_for_end()
        ranks = dwell("ranks", f"{self.results}/job{self.job}.dwell.sum")
        self.assertRegex(ranks, r"2 ranks, \d+ steps")
        self.assertIn("node1", ranks)


if __name__ == "__main__":
    unittest.defaultTestLoader.testNamePatterns = [f"*{part}*" for part in sys.argv[3:]] or None
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    for test, why in result.skipped:
        print(f"skip {test.id()}: {why}")
    failed = len(result.failures) + len(result.errors)
    print(f"{max(0, result.testsRun - failed - len(result.skipped))} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
