#!/usr/bin/env python3
"""Collectives of real ranks: MPI's in C and Python, NCCL's interface, and what launchers say of ranks.

usage: collectives_test.py DWELL NCCL_HOST NCCL_PLUGIN NCCL_OTHER NCCL_OTHER [PART-OF-A-NAME...]

examples/mpi_ranks.c is slow in a known way and prints by its own clock how much. The comparison must name the rank, the
part and the time within 10%, and each collective with its group, count and bytes. nccl_host calls the plugin
as NCCL does. The last line is "N passed, N failed, N skipped".
"""
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../probes"))
import again  # noqa: E402
import mpi_installed  # noqa: E402

dwell, nccl_host, nccl_plugin, *nccl_others = (os.path.abspath(path) for path in sys.argv[1:6])
# The same for lines of a shell.
DWELL, HOST, PLUGIN = (shlex.quote(path) for path in (dwell, nccl_host, nccl_plugin))
STEPS = 40


def environment(**more):
    return dict(os.environ, OMPI_MCA_btl_vader_single_copy_mechanism="none", **more)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dwell-collectives-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.trace = os.path.join(self.folder, "job.dwell")

    def run_dwell(self, *command, **more):
        if os.path.exists(self.trace):
            os.remove(self.trace)
        done = subprocess.run([dwell, "run", "-o", self.trace, "--", *command], capture_output=True, text=True,
                              check=False, timeout=120, env=environment(**more))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def tables(self, *traces):
        done = subprocess.run([dwell, "ranks", "--format", "json", *(traces or [self.trace])], capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {view["part"]: [dict(zip([column["name"] for column in view["columns"]], row)) for row in view["rows"]]
                for view in json.loads(done.stdout)["views"]}


# A server gives three workers 40 times what they work on; worker 2 sleeps for 10 ms.
SERVER = """
#include <mpi.h>
#include <unistd.h>
#ifdef MARKED
#include <dwell/probe.h>
#else
#define DWELL_STEP() (void)0
#endif
int main(int count, char **words)
{
    double weights[64] = { 0 };
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 40; i++) {
        if (rank) {
            MPI_Recv(weights, 64, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            usleep(rank == 2 ? 12000 : 2000);
            MPI_Send(weights, 64, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
            continue;
        }
        DWELL_STEP();
        for (int worker = 1; worker < 4; worker++)
            MPI_Send(weights, 64, MPI_DOUBLE, worker, 1, MPI_COMM_WORLD);
        for (int worker = 1; worker < 4; worker++)
            MPI_Recv(weights, 64, MPI_DOUBLE, worker, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
"""


class Mpi:
    """The tests of each implementation of MPI."""
    name = ""

    @classmethod
    def setUpClass(cls):
        if mpi_installed.missing(cls.name):
            raise unittest.SkipTest(mpi_installed.missing(cls.name))
        folder = tempfile.TemporaryDirectory(prefix="dwell-mpi-")
        cls.addClassCleanup(folder.cleanup)
        cls.program = os.path.join(folder.name, "mpi_ranks")
        cls.mpirun = [*mpi_installed.launcher(cls.name), "-n", "4"]
        mpi_installed.compile_program(cls.name, os.path.join(mpi_installed.ROOT, "examples/mpi_ranks.c"),
                                      os.path.dirname(dwell), cls.program)

    def record(self, *plan):
        text = self.run_dwell(*self.mpirun, self.program, str(STEPS), *map(str, plan))
        planted = {int(rank): int(ns) for rank, ns in re.findall(r"planted (\d) (\d+)", text)}
        return planted.get(2, 0), self.tables()

    def is_crowded(self):
        """MPICH's ranks wait by spinning. On fewer cores they take CPU time from the slow rank, in any part of its step."""
        return self.name == "MPICH" and len(os.sched_getaffinity(0)) < 4

    @staticmethod
    def is_last(tables, rank):
        last = max(tables["ranks"], key=lambda row: row["delay_ns"])
        return last["rank"] == rank and last["last"] > .8

    def check_slow_part(self, what, part):
        def near(found):
            planted, tables = found
            rows = [row for row in tables["ranks"] if row["slow"]]
            if self.is_crowded():
                return self.is_last(tables, 2)
            return (len(rows) == 1 and rows[0]["rank"] == 2 and rows[0]["part"] == part and
                    abs(rows[0]["part_excess_ns"] * STEPS / planted - 1) < .1)
        planted, tables = again.until(near, lambda: self.record(what, 2, 4))
        self.assertTrue(near((planted, tables)), (planted / STEPS, tables["ranks"]))
        return tables

    def test_slow_data(self):
        tables = self.check_slow_part("data", "data")
        rows = {(row["group"], row["operation"]): row for row in tables["collectives"]}
        counted = {key: (row["ranks"], row["count"], row["bytes"]) for key, row in rows.items() if row["count"]}
        self.assertEqual(counted, {("MPI_COMM_WORLD", "MPI_Allreduce"): (4, STEPS, 4096 * 4),
                                   ("MPI_COMM_WORLD", "MPI_Iallreduce"): (4, STEPS, 4),
                                   ("ranks 0,2", "MPI_Bcast"): (2, STEPS, 64),
                                   ("ranks 1,3", "MPI_Bcast"): (2, STEPS, 64)})
        row = rows["MPI_COMM_WORLD", "MPI_Allreduce"]
        self.assertGreater(row["last_share"], .5)
        self.assertEqual(row["last_rank"], 2)
        self.assertAlmostEqual(row["wait_ns"] + row["transfer_ns"], row["blocked_ns"], delta=row["blocked_ns"] * .01)
        # Three ranks wait for 4 ms in each step, the other one does not.
        self.assertGreater(row["wait_ns"], 1.5e6)
        # The reduction that is started before backward is under way during backward's 3 ms.
        self.assertGreater(min(row["hidden_ns"] for row in tables["ranks"]), 2e6)
        self.assertEqual(self.tables(self.trace + ".sum"), tables)

    def check_another_part(self, what, part):
        if self.is_crowded():
            self.skipTest("the slow part is not known where ranks spin on fewer cores; that its rank is last, test_slow_data shows")
        self.check_slow_part(what, part)

    def test_slow_compute(self):
        self.check_another_part("compute", "forward")

    def test_slow_collector(self):
        self.check_another_part("collector", "collector")

    def test_parameter_server(self):
        """Only the server has an optimizer, and so steps; its messages with the workers are rounds of all of them."""
        with open(self.program + "_server.c", "w", encoding="utf-8") as file:
            file.write(SERVER)
        for marked in ([], ["-DMARKED"]):
            mpi_installed.compile_program(self.name, self.program + "_server.c", os.path.dirname(dwell), self.program + "_server", *marked)

            def record():
                self.run_dwell(*self.mpirun, self.program + "_server")
                return self.tables()
            tables = again.until(lambda tables: self.is_last(tables, 2), record)
            self.assertEqual([row["rank"] for row in tables["ranks"]], [0, 1, 2, 3], marked)
            self.assertTrue(self.is_last(tables, 2), (marked, tables["ranks"]))

    def test_slow_once(self):
        def near(found):
            planted, tables = found
            steps = tables.get("slow_steps", [])
            return (not any(row["slow"] for row in tables["ranks"]) and steps and steps[0]["rank"] == 2 and
                    steps[0]["step"] == 20 and abs(steps[0]["excess_ns"] / planted - 1) < .1)
        found = again.until(near, lambda: self.record("once", 2, 80))
        self.assertTrue(near(found), found)

    def test_mpirun_starts_dwell(self):
        command = f"exec {DWELL} run -o {self.folder}/${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}.dwell -- {self.program} {STEPS} data 2 4"

        def record():
            subprocess.run([*self.mpirun, "sh", "-c", command], capture_output=True, check=True, timeout=120, env=environment())
            return self.tables(*(os.path.join(self.folder, f"{rank}.dwell") for rank in range(4)))

        def named(tables):
            return self.is_last(tables, 2) if self.is_crowded() else [row["slow"] for row in tables["ranks"]] == [0, 0, 1, 0]
        tables = again.until(named, record)
        self.assertTrue(named(tables), tables["ranks"])
        self.assertEqual([row["rank"] for row in tables["ranks"]], [0, 1, 2, 3])
        self.assertIn(("MPI_COMM_WORLD", "MPI_Allreduce", 4, STEPS),
                      [(row["group"], row["operation"], row["ranks"], row["count"]) for row in tables["collectives"]])

    def test_a_job_that_hangs(self):
        job = subprocess.Popen([dwell, "run", "-o", self.trace, "--", *self.mpirun, self.program, str(STEPS), "stop", "2",
                                "600000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(),
                               start_new_session=True)
        try:
            limit, said = time.monotonic() + 60, ""
            while "The job hangs" not in said and time.monotonic() < limit:
                time.sleep(.5)
                said = subprocess.run([dwell, "ranks", self.trace], capture_output=True, text=True,
                                      check=False).stdout
        finally:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        for text in (said, subprocess.run([dwell, "ranks", self.trace], capture_output=True, text=True,
                                          check=False).stdout):
            self.assertRegex(text, "The job hangs: ranks 0, 1, 3 wait in MPI_Allreduce, number 42 of group "
                                   "MPI_COMM_WORLD, for ")
            self.assertIn("Rank 2 did not enter it: it is outside all recorded ranges, after step 19", text)



class OpenMpi(Mpi, Case):
    name = "Open MPI"

    def test_python(self):
        python = "/usr/bin/python3"
        if subprocess.run([python, "-c", "import mpi4py"], capture_output=True, check=False).returncode:
            self.skipTest("mpi4py is missing: Debian's package python3-mpi4py")
        script = os.path.join(self.folder, "train.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write("from mpi4py import MPI\nimport array\nworld = MPI.COMM_WORLD\n"
                       "pair = world.Split(world.rank % 2, world.rank)\n"
                       "own, sums = (array.array('f', [0] * 1000) for _ in range(2))\n"
                       "for _ in range(10):\n    world.Allreduce(own, sums)\n    pair.Bcast(own)\n")
        self.run_dwell(*self.mpirun, python, script)
        done = subprocess.run([dwell, "report", "--format", "json", "--limit", "all", "--view", "tree", self.trace],
                              capture_output=True, text=True, check=True).stdout
        view = json.loads(done)["views"][0]
        names = [column["name"] for column in view["columns"]]
        rows = [dict(zip(names, row)) for row in view["rows"]]
        for name in ("MPI_Allreduce", "MPI_Bcast"):
            self.assertEqual([row["calls"] for row in rows if row["name"] == name], [10] * 4)


class Mpich(Mpi, Case):
    name = "MPICH"


class Nccl(Case):
    def test_each_version(self):
        for version in (4, 5, 6):
            with self.subTest(version=version):
                command = " ".join([HOST, PLUGIN, str(version), "30", "2"])
                self.run_dwell("sh", "-c", f"RANK=0 {command} & RANK=1 {command}; wait", WORLD_SIZE="2", DWELL_NCCL_CHANNELS="1")
                tables = self.tables()
                rows = {row["operation"]: (row["group"], row["ranks"], row["count"], row["bytes"], row["compared"])
                        for row in tables["collectives"]}
                group = "world NCCL 0000000000001234"
                self.assertEqual(rows, {"ncclAllReduce": (group, 2, 30, 4000, 30),
                                        "ncclAllGather": (group, 2, 30, 2000, 30)})
                # The program does not wait in NCCL's calls: all of the 2 ms is time under way.
                for row in tables["ranks"]:
                    self.assertGreaterEqual(row["hidden_ns"], 1.9e6)


    def test_channels_only_on_request(self):
        """The begin and end of kernels make them slower. Without them each collective is there, and no end is invented."""
        self.run_dwell("sh", "-c", f"RANK=0 {HOST} {PLUGIN} 5 30 2 & RANK=1 {HOST} {PLUGIN} 5 30 2; wait", WORLD_SIZE="2")
        tables = self.tables()
        self.assertEqual({(row["operation"], row["count"], row["bytes"]) for row in tables["collectives"]},
                         {("ncclAllReduce", 30, 4000), ("ncclAllGather", 30, 2000)})
        self.assertEqual([row["hidden_ns"] or 0 for row in tables["ranks"]], [0, 0])

    def test_another_plugin_gets_its_events(self):
        """In place of it NCCL loads dwell's, which passes on to plugins of the same version and of an older one."""
        for other, version in ((nccl_others[0], 4), (nccl_others[0], 5), (nccl_others[1], 5), (nccl_others[1], 6)):
            with self.subTest(other=os.path.basename(other), version=version):
                program = f'[ "$NCCL_PROFILER_PLUGIN" != {shlex.quote(other)} ] && exec {HOST} {PLUGIN} {version} 3 1'
                done = subprocess.run([dwell, "run", "-o", self.trace, "--", "sh", "-c", program], capture_output=True, text=True,
                                      env=environment(NCCL_PROFILER_PLUGIN=other), check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("other: 18 events, 12 of channels, 12 with their collective, 18 stopped, 3 states, context right", done.stderr)


class Running(Case):
    def test_summaries_during_the_run(self):
        """--summary-every: a comparison of a running job, from its summary alone."""
        command = " ".join([HOST, PLUGIN, "6", "250", "20"])
        job = subprocess.Popen([dwell, "run", "--summary-every", "1s", "-o", self.trace, "--", "sh", "-c",
                                f"RANK=0 {command} & RANK=1 {command}; wait"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=environment(WORLD_SIZE="2", DWELL_NCCL_CHANNELS="1"))  # kernels take 20 ms
        seen = set()
        while job.poll() is None:
            said = subprocess.run([dwell, "ranks", "--format", "json", self.trace + ".sum"], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(said.returncode, 0 if seen else said.returncode, said.stderr)
            if not said.returncode:
                view = json.loads(said.stdout)["views"][0]
                seen.add(view["rows"][0][[column["name"] for column in view["columns"]].index("steps")])
            time.sleep(.1)
        self.assertEqual(job.returncode, 0)
        self.assertGreaterEqual(len(seen), 2, seen)
        steps = [row["steps"] for row in self.tables(self.trace + ".sum")["ranks"]]
        self.assertGreaterEqual(min(steps), max(seen))
        self.assertEqual(steps, [row["steps"] for row in self.tables()["ranks"]])


def can_unshare():
    command = ["unshare", "--uts", "--time", "--fork", "hostname", "node9"]
    return shutil.which("unshare") and not subprocess.run(command, capture_output=True, check=False).returncode


@unittest.skipUnless(can_unshare(), "this user may make no namespaces for host names and clocks")
class Nodes(Case):
    """Two nodes: host names of their own, and for one trace clocks of their own, in namespaces."""

    def check_nodes(self, files):
        said = subprocess.run([dwell, "ranks", "--format", "json", *files], capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 0, said.stderr)
        views = {view["part"]: view for view in json.loads(said.stdout)["views"]}
        names = [column["name"] for column in views["ranks"]["columns"]]
        rows = [dict(zip(names, row)) for row in views["ranks"]["rows"]]
        self.assertEqual([(row["rank"], row["host"]) for row in rows], [(0, "node0"), (1, "node1")])
        self.assertEqual({row[views["collectives"]["columns"].index(column)] for row in views["collectives"]["rows"]
                          for column in views["collectives"]["columns"] if column["name"] == "ranks"}, {2})

    def test_dwell_before_each_rank(self):
        node = ("hostname node{0}; RANK={0} WORLD_SIZE=2 exec {1} run -o {2}/node{0}.dwell -- {3} {4} 6 30 1")
        ranks = [subprocess.Popen(["unshare", "--uts", "--fork", "sh", "-c",
                                   node.format(rank, DWELL, self.folder, HOST, PLUGIN)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for rank in range(2)]
        self.assertEqual([rank.wait(timeout=60) for rank in ranks], [0, 0])
        self.check_nodes([f"{self.folder}/node{rank}.dwell" for rank in range(2)])
        self.check_nodes([f"{self.folder}/node{rank}.dwell.sum" for rank in range(2)])

    def test_dwell_before_the_launcher(self):
        # The launcher passes the environment on to both nodes, whose clocks differ.
        node = ("unshare --uts --time --boottime 5000 --monotonic {0}000 --fork "
                "sh -c 'hostname node{0}; RANK={0} exec \"$0\" \"$1\" 6 30 1' {1} {2} &")
        script = "".join(node.format(rank, HOST, PLUGIN) for rank in range(2)) + " wait"
        self.run_dwell("sh", "-c", script, WORLD_SIZE="2")
        files = [os.path.join(self.folder, name) for name in os.listdir(self.folder) if name.endswith(".dwell")]
        self.assertGreater(len(files), 1, files)
        self.check_nodes(files)


class Launchers(Case):
    @staticmethod
    def srun(rank, ranks):
        return {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank % 2), "SLURM_NTASKS": str(ranks),
                "SLURM_STEP_NUM_TASKS": str(ranks), "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0"}

    def said(self, **variables):
        self.run_dwell(nccl_host, nccl_plugin, "6", "2", "0", **variables)
        return subprocess.run([dwell, "info", self.trace], capture_output=True, text=True, check=True).stdout

    def test_the_script_of_sbatch_is_no_rank(self):
        self.assertNotRegex(self.said(SLURM_PROCID="0", SLURM_LOCALID="0", SLURM_NTASKS="2", SLURM_JOB_ID="77"), "rank 0")

    def test_a_launcher_with_pmix_alone(self):
        self.assertRegex(self.said(PMIX_RANK="3", PMIX_NAMESPACE="prterun-node-1@1", **self.srun(1, 2)), "rank 3")

    def test_the_job_is_known(self):
        for job, variables in (("77.0", self.srun(0, 2)), ("77", {"SLURM_JOB_ID": "77", "RANK": "0", "WORLD_SIZE": "2"}),
                               ("77.0", {**self.srun(0, 1), "TORCHELASTIC_RUN_ID": "none", "RANK": "0", "WORLD_SIZE": "2"}),
                               ("mine", {**self.srun(0, 1), "TORCHELASTIC_RUN_ID": "mine", "RANK": "0", "WORLD_SIZE": "2"})):
            with self.subTest(variables=variables):
                self.said(**variables)
                figures = self.trace + ".metrics"
                subprocess.run([dwell, "watch", "--once", "--metrics", figures, self.trace], capture_output=True, check=False)
                with open(figures, encoding="utf-8") as file:
                    self.assertIn(f'dwell_steps_total{{run="{job}",rank="0"', file.read())

    def test_ranks_are_known(self):
        launchers = {
            "torchrun, accelerate": {"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4"},
            "Open MPI": {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"},
            "MPICH": {"PMI_RANK": "3", "MPI_LOCALRANKID": "1", "PMI_SIZE": "4"},
            "srun": self.srun(3, 4),
            "torchrun within Slurm": {"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4", **self.srun(0, 1)},
            "mpirun within Slurm": {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4", **self.srun(1, 2)},
            "srun with PMI 2": {"PMI_RANK": "3", "PMI_SIZE": "4", **self.srun(3, 4)},
            "srun with PMIx": {"PMIX_RANK": "3", "PMIX_NAMESPACE": "slurm.pmix.77.0", **self.srun(3, 4)},
            "Lightning": {"NODE_RANK": "0", "LOCAL_RANK": "3", "WORLD_SIZE": "4"},
        }
        for name, variables in launchers.items():
            with self.subTest(launcher=name):
                self.assertIn("rank 3 of 4", self.said(**variables))


def main():
    suite = unittest.TestSuite()
    chosen = sys.argv[6:]
    for case in (OpenMpi, Mpich, Nccl, Running, Nodes, Launchers):
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(case):
            if not chosen or any(part in test.id() for part in chosen):
                suite.addTest(test)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    for test, why in result.skipped:
        print(f"skip {test.id()}: {why}")
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    return failed != 0


sys.exit(main())
