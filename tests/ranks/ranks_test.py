#!/usr/bin/env python3
"""Ranks of a job whose times are known: summaries, their merge, and the comparison.

usage: ranks_test.py MAKE_RANKS DWELL SIMULATE MAKE_SUMMARIES [PART-OF-A-NAME...]

make_ranks writes traces in which each rank's times are known. The comparison must name the rank that
was slowed, by how much and where, and must name none where none was. Summaries must be small, equal
bytes in whatever order they are merged, and refuse damage. The last line is "N passed, N failed, N
skipped".
"""
import gzip
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mpi_installed  # noqa: E402

make_ranks, dwell, simulate, make_summaries = (os.path.abspath(path) for path in sys.argv[1:5])
WORK_MS = 35.0  # of a step without communication
STEP_MS = 36.0


def run(*command, status=0):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != status:
        raise AssertionError(f"{command}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dwell-ranks-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, ranks, steps, *options, name="a"):
        os.makedirs(self.path(name), exist_ok=True)
        run(make_ranks, self.path(name), str(ranks), str(steps), *(str(option) for option in options))
        return sorted(os.path.join(self.path(name), file) for file in os.listdir(self.path(name)))

    def summarize(self, files, name):
        run(dwell, "summarize", *files, "-o", self.path(name))
        with open(self.path(name), "rb") as file:
            return file.read()

    def compare(self, files):
        found = json.loads(run(dwell, "ranks", "--format", "json", *files).stdout)
        return {table["part"]: table for table in found["views"]}

    def rows(self, table):
        names = [column["name"] for column in table["columns"]]
        return [dict(zip(names, row)) for row in table["rows"]]

    def slow(self, tables):
        return [row for row in self.rows(tables["ranks"]) if row["slow"]]


class Comparison(Case):
    def test_a_slow_rank_is_named_with_its_part(self):
        for part, seed in itertools.product(("data", "forward", "backward", "optimizer", "collector"), (1, 2)):
            with self.subTest(part=part, seed=seed):
                tables = self.compare(self.make(8, 120, "slow", 5, part, 5, "seed", seed))
                (row,) = self.slow(tables)
                self.assertEqual((row["rank"], row["part"]), (5, part))
                planted = STEP_MS * 0.05 / WORK_MS
                self.assertAlmostEqual(row["excess"], planted, delta=planted / 10)
                self.assertAlmostEqual(row["part_excess_ns"], STEP_MS * 0.05e6, delta=STEP_MS * 0.005e6)
                self.assertEqual(row["name"], f"{part}.kernel" if part in ("forward", "backward") else None)

    def test_a_slow_layer_is_named(self):
        # Of 80 layers a summary keeps 64, in any order with this one.
        files = self.make(8, 120, "operators", 160, "layers", 80, "slow", 5, "forward", 5, "layer", 71)
        (row,) = self.slow(self.compare(files))
        self.assertEqual((row["part"], row["layer"], row["name"]), ("forward", "Net.71", "forward.kernel"))
        self.assertIn("a step more), layer Net.71, operator forward.kernel.", run(dwell, "ranks", *files).stdout)
        self.summarize(files, "sum")
        self.assertEqual(run(dwell, "ranks", self.path("sum")).stdout, run(dwell, "ranks", *files).stdout)
        # The excess is elsewhere: no layer is named.
        (row,) = self.slow(self.compare(self.make(8, 120, "layers", 4, "slow", 5, "backward", 5, name="b")))
        self.assertEqual((row["part"], row["layer"], row["name"]), ("backward", None, "backward.kernel"))

    def test_input_sizes_that_differ(self):
        files = self.make(4, 60, "inputs", 2, 30)
        rows = self.rows(self.compare(files)["ranks"])
        for row in rows:
            self.assertAlmostEqual(row["input_bytes"], (1.3 if row["rank"] == 2 else 1) * 2**20, delta=1)
        self.assertIn("Input sizes are not balanced: rank 2 loads 1.30 MiB a step, 30.0% more than the median rank.",
                      run(dwell, "ranks", *files).stdout)
        equal = run(dwell, "ranks", *self.make(4, 60, "inputs", 2, 3, name="b")).stdout
        self.assertNotIn("not balanced", equal)

    def test_memory_that_differs(self):
        files = self.make(4, 60, "activations", 2, 30)
        peaks = [row["memory_peak_bytes"] for row in self.rows(self.compare(files)["ranks"])]
        self.assertEqual(peaks, [2 * int((1.3 if rank == 2 else 1) * 2**20) for rank in range(4)])
        self.summarize(files, "sum")
        for given in (files, [self.path("sum")]):
            text = run(dwell, "ranks", *given).stdout
            self.assertIn("Memory is not balanced: rank 2 has 2.60 MiB at its peak, 30.0% more than the median rank.",
                          text)
            self.assertIn("Rank 2 allocates 1.30 MiB in each step, 30.0% more than the median rank: its inputs may be",
                          text)
        self.assertNotIn("not balanced", run(dwell, "ranks", *self.make(4, 60, "activations", 2, 8, name="b")).stdout)

    def test_stragglers(self):
        files = self.make(8, 120, "layers", 2, "slow", 5, "forward", 20, "layer", 1, "once", 2, 70, 900)
        view = json.loads(run(dwell, "report", "--view", "stragglers", "--format", "json", *files).stdout)["views"][0]
        always, once = self.rows(view)
        self.assertEqual((always["rank"], always["step"], always["part"], always["layer"], always["name"]),
                         (5, None, "forward", "Net.1", "forward.kernel"))
        self.assertGreater(always["last"], .95)
        self.assertEqual((once["rank"], once["step"], once["part"]), (2, 70, "collector"))
        said = run(dwell, "report", "--view", "stragglers", files[0], status=1).stderr
        self.assertIn("has no steps of several processes: record all ranks", said)

    def test_others_wait_for_it(self):
        tables = self.compare(self.make(4, 100, "slow", 2, "data", 20, "noise", 0))
        for row in self.rows(tables["ranks"]):
            planted = 0 if row["rank"] == 2 else STEP_MS * 0.2e6
            self.assertAlmostEqual(row["wait_ns"], planted, delta=2000)
            self.assertAlmostEqual(row["communication_ns"], planted + 1e6, delta=2000)
            self.assertEqual(row["last"], float(row["rank"] == 2))

    def test_of_two_ranks_the_slower_one(self):
        (row,) = self.slow(self.compare(self.make(2, 100, "slow", 1, "forward", 10)))
        self.assertEqual((row["rank"], row["part"]), (1, "forward"))

    def test_once(self):
        for steps, number in ((200, 100), (5000, 1234)):
            with self.subTest(steps=steps):
                tables = self.compare(self.make(4, steps, "once", 1, number, 900))
                self.assertEqual(self.slow(tables), [])
                first = self.rows(tables["slow_steps"])[0]
                self.assertEqual((first["rank"], first["step"], first["part"]), (1, number, "collector"))
                self.assertAlmostEqual(first["excess_ns"], STEP_MS * 9e6, delta=STEP_MS * 0.5e6)

    def test_equal_ranks(self):
        for ranks, seed in itertools.product((2, 4, 16, 64), (1, 2, 3)):
            with self.subTest(ranks=ranks, seed=seed):
                text = run(dwell, "ranks", *self.make(ranks, 60, "seed", seed)).stdout
                self.assertIn("No rank stands out.", text)

    def test_how_often_it_is_right(self):
        # tests/ranks/simulate.c; doc/how/ranks.md has the figures of many more runs.
        run(simulate, "100", "64", "200", "5", "5", "0.3", "0.3")
        run(simulate, "100", "64", "400", "5", "5", "0.3", "0.3", "220")  # slow in the last half only

    def test_a_slow_host(self):
        one = self.make(8, 100, "hosts", 4, "slow", 4, "forward", 10, "noise", 1)
        other = self.make(8, 100, "hosts", 4, "slow", 5, "forward", 10, "noise", 1, name="b")
        third = self.make(8, 100, "hosts", 4, "slow", 6, "forward", 10, "noise", 1, name="c")
        last = self.make(8, 100, "hosts", 4, "slow", 7, "forward", 10, "noise", 1, name="d")
        text = run(dwell, "ranks", *one[:5], other[5], third[6], last[7]).stdout
        self.assertIn("All 4 ranks of host node1 work", text)
        self.assertIn("longer than the ranks of other hosts", text)

    def test_a_rank_that_stopped(self):
        text = run(dwell, "ranks", *self.make(4, 100, "stop", 2, 40)).stdout
        self.assertIn("Rank 2 began its last step, 40, while other ranks came to step 99; that step did not end",
                      text)

    def test_a_job_that_hangs(self):
        files = self.make(4, 100, "hang", 2, 60, "noise", 0)
        self.summarize(files, "sum")
        for given in (files, [self.path("sum")]):
            text = run(dwell, "ranks", *given).stdout
            self.assertIn("The job hangs: ranks 0, 1, 3 wait in all_reduce, for 5.00 s.", text)
            self.assertIn("Rank 2 did not enter it: it is in data, in step 60, without a record for 0.", text)
        self.assertIn("\nSTOP   The job hangs: ranks 0, 1, 3 wait in all_reduce, for 5.00 s.\n       Rank 2 did not",
                      run(dwell, "report", *files).stdout)
        # Where one rank was is not known: nobody can say what the job waits for.
        self.make(4, 60, name="b")
        text = run(dwell, "ranks", *files[:3], os.path.join(self.path("b"), "rank-0003.dwell")).stdout
        self.assertNotIn("hangs", text)

    def test_collectives(self):
        # All ranks leave at the same time, 1 ms after the last one has arrived.
        tables = self.compare(self.make(4, 100, "slow", 2, "data", 20, "collectives", 5000))
        (row,) = self.rows(tables["collectives"])
        self.assertEqual((row["group"], row["operation"], row["ranks"], row["count"], row["bytes"], row["compared"]),
                         ("world", "all_reduce", 4, 100, 5000, 100))
        self.assertAlmostEqual(row["transfer_ns"], 1e6, delta=1)
        self.assertAlmostEqual(row["wait_ns"] + row["transfer_ns"], row["blocked_ns"], delta=1)
        self.assertAlmostEqual(row["wait_ns"], STEP_MS * .2e6 * 3 / 4, delta=STEP_MS * .2e5)
        self.assertEqual(row["last_rank"], 2)
        self.assertGreater(row["last_share"], .95)
        for rank in self.rows(tables["ranks"]):
            self.assertAlmostEqual(rank["hidden_ns"], 0, delta=1)

    def test_clocks_that_are_hours_apart(self):
        options = "slow", 2, "data", 20, "collectives", 5000, "hosts", 2
        same = self.compare(self.make(6, 100, *options, name="a"))
        apart = self.compare(self.make(6, 100, *options, "clock", 9000, name="b"))
        (row,), (other,) = self.rows(same["collectives"]), self.rows(apart["collectives"])
        for name in ("wait_ns", "transfer_ns"):
            self.assertAlmostEqual(row[name], other[name], delta=100, msg=name)
        self.assertEqual((row["last_rank"], row["last_share"]), (other["last_rank"], other["last_share"]))
        said = run(dwell, "ranks", *sorted(os.path.join(self.path("b"), file) for file in os.listdir(self.path("b"))))
        self.assertRegex(said.stdout, "The clocks of the hosts were aligned by 400 common collectives, to 0")

    def test_a_hanging_collective_is_named(self):
        files = self.make(4, 60, "hang", 2, 40, "collectives", 5000)
        said = run(dwell, "ranks", *files).stdout
        self.assertRegex(said, "The job hangs: ranks 0, 1, 3 wait in all_reduce, number 41 of group world, for ")

    def test_ranks_that_are_missing_or_twice(self):
        files = self.make(8, 30)
        text = run(dwell, "ranks", *files[:3], *files[5:]).stdout
        self.assertIn("2 of 8 ranks are missing: 3, 4.", text)
        other = self.make(8, 30, "hosts", 1, name="b")
        self.assertIn("Two processes have rank 3: pid 1003 on node0 and pid 1003 on node3.",
                      run(dwell, "ranks", *files, other[3]).stdout)
        # The same trace twice is one rank.
        self.assertEqual(run(dwell, "ranks", *files, files[3]).stdout, run(dwell, "ranks", *files).stdout)

    def test_ranks_of_several_jobs(self):
        files = self.make(8, 40, "job", 6, "slow", 7, "data", 50)
        text = run(dwell, "ranks", *files).stdout
        self.assertIn("2 ranks of other jobs than 'job 7' are not compared.", text)
        self.assertIn("2 of 8 ranks are missing: 6, 7.", text)
        self.assertIn("No rank stands out.", text)
        # A rank of another run, whose job has the same name: a day later on the same host.
        files = self.make(4, 40, "start", 2, 86400, name="b")
        self.assertIn("On node0 rank 2 began 86,400 s after rank 0, whose steps took 1.",
                      run(dwell, "ranks", *files).stdout)
        self.assertNotIn("different runs", run(dwell, "ranks", *self.make(4, 40, "start", 2, 30, name="c")).stdout)

    def test_different_numbers_of_steps(self):
        files = self.make(4, 100, "slow", 3, "data", 20)
        fewer = self.make(4, 60, "slow", 3, "data", 20, name="b")
        tables = self.compare([*files[:2], fewer[2], files[3]])
        (row,) = self.slow(tables)
        self.assertEqual((row["rank"], row["part"], row["steps"]), (3, "data", self.rows(tables["ranks"])[0]["steps"]))
        self.assertEqual(self.rows(tables["ranks"])[2]["steps"], row["steps"] - 40)
        self.assertIn("Rank 2 began its last step, 59, while other ranks came to step 99.",
                      run(dwell, "ranks", *files[:2], fewer[2], files[3]).stdout)

    def test_a_rank_with_losses(self):
        files = self.make(4, 60, "lost", 2, 1234)
        said = ("Rank 2 lost 1,234 records (the middle was overwritten to stay within --max-size): times of its "
                "operators and parts may be too short.")
        self.assertIn(said, run(dwell, "ranks", *files).stdout)
        self.assertEqual([row["lost"] for row in self.rows(self.compare(files)["ranks"])], [0, 0, 1234, 0])
        self.summarize(files, "sum")
        self.assertIn(said, run(dwell, "ranks", self.path("sum")).stdout)

    def test_time_between_steps(self):
        # The slow rank waits outside its steps, and the others wait for it in theirs.
        files = self.make(4, 60, "collectives", 100, "between", 2, 20)
        tables = self.compare(files)
        (row,) = self.slow(tables)
        self.assertEqual((row["rank"], row["part"]), (2, "between steps"))
        self.assertAlmostEqual(row["part_excess_ns"], STEP_MS * .2e6, delta=STEP_MS * .02e6)
        self.assertIn("most of it between steps (7.08 ms a step more)", run(dwell, "ranks", *files).stdout)
        self.summarize(files, "sum")
        self.assertEqual(run(dwell, "ranks", self.path("sum")).stdout, run(dwell, "ranks", *files).stdout)

    def test_few_steps(self):
        self.assertIn("Only 12 steps are compared.", run(dwell, "ranks", *self.make(4, 12)).stdout)

    def test_one_rank_is_no_comparison(self):
        files = self.make(2, 30)
        self.assertIn("at least two ranks", run(dwell, "ranks", files[0], status=1).stderr)
        self.assertIn("no files are given", run(dwell, "ranks", status=2).stderr)

    def test_picture(self):
        files = self.make(40, 300, "slow", 7, "data", 20)
        picture = run(dwell, "ranks", "--format", "svg", *files).stdout
        xml.etree.ElementTree.fromstring(picture)
        self.assertIn("rank 7", picture)
        for text in (">step<", ">0<", ">250<", "work beyond the median rank: 0%", ">25% and more<"):
            self.assertTrue(text in picture, text)
        run(dwell, "ranks", "-f", "svg", *files, "-o", self.path("ranks.svg"))
        with open(self.path("ranks.svg"), encoding="utf-8") as file:
            self.assertEqual(file.read(), picture)


class Mpi(Case):
    def setUp(self):
        super().setUp()
        self.launchers = [name for name in mpi_installed.IMPLEMENTATIONS if mpi_installed.launcher(name)]
        if not self.launchers:
            self.skipTest("there is no mpirun: Debian's packages openmpi-bin, mpich")

    def mpirun(self, processes, *arguments, status=0, name=None):
        return run(*mpi_installed.launcher(name or self.launchers[0]), "-n", str(processes), dwell, "ranks", "--mpi",
                   *arguments, status=status)

    def test_any_number_of_processes_gives_the_same(self):
        files = self.make(10, 100, "slow", 7, "forward", 5)
        want = run(dwell, "ranks", "--format", "json", *files).stdout
        self.assertIn("Rank 7 is slow", want)
        for name, processes in itertools.product(self.launchers, (1, 2, 3, 5)):
            with self.subTest(name=name, processes=processes):
                self.assertEqual(self.mpirun(processes, "--format", "json", *files, name=name).stdout, want)

    def test_a_library_that_is_not_the_launchers(self):
        files = self.make(2, 30)
        if len(self.launchers) < 2:
            self.skipTest("one MPI is installed: Debian's packages openmpi-bin, mpich")
        for name, library, why in (("Open MPI", "libmpich.so.12", "is not the library of the launcher"),
                                   ("Open MPI", "libm.so.6", "an MPI library that dwell does not know"),
                                   ("MPICH", "libnone.so", "cannot open shared object")):
            with self.subTest(launcher=name, library=library):
                said = run("env", f"DWELL_MPI={library}", *mpi_installed.launcher(name), "-n", "2", dwell, "ranks", "--mpi",
                           *files, status=1).stderr
                self.assertIn(why, said)
                self.assertIn("DWELL_MPI", said)

    def test_compressed_traces_and_summaries(self):
        files = self.make(4, 40, "slow", 2, "data", 20, "collectives", 100)
        exported = []
        for i, file in enumerate(files):
            exported.append(self.path(f"{i}.json.gz"))
            run(dwell, "export", "--format", "chrome", "-o", self.path("json"), file)
            with open(self.path("json"), "rb") as json_file, gzip.open(exported[-1], "wb") as compressed:
                compressed.write(json_file.read())
        self.summarize(files[1:2], "sum")
        for given in (exported, [files[0], self.path("sum"), *files[2:]]):
            want = run(dwell, "ranks", "--format", "json", *given).stdout
            (row,) = self.slow(self.compare(given))
            self.assertEqual((row["rank"], row["part"]), (2, "data"))
            self.assertAlmostEqual(row["part_excess_ns"], STEP_MS * .2e6, delta=STEP_MS * .02e6)
            self.assertEqual(self.mpirun(2, "--format", "json", *given).stdout, want)

    def test_a_damaged_file_ends_all(self):
        files = self.make(4, 30)
        with open(files[3], "wb") as file:
            file.write(b"dwellsum damaged")
        self.assertIn(files[3], self.mpirun(3, *files, status=1).stderr)


class Cluster(Case):
    """640 ranks on 80 hosts in four racks: text has rows of ranks that are alike, and says where slow ranks are."""

    def cluster(self, *options, ranks=640, name="a"):
        os.makedirs(self.path(name), exist_ok=True)
        run(make_summaries, self.path(name), str(ranks), "3000", "names", "3", *(str(option) for option in options))
        return sorted(os.path.join(self.path(name), file) for file in os.listdir(self.path(name)))

    def said(self, *options, **more):
        return run(dwell, "ranks", *self.cluster(*options, **more)).stdout

    def test_the_text_is_as_expected(self):
        expected = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cluster.txt")
        text = self.said("slow-host", 63, 12, "slow-rank", 7, 6, "since", 30)
        if os.environ.get("DWELL_UPDATE"):
            with open(expected, "w", encoding="utf-8") as file:
                file.write(text)
        with open(expected, encoding="utf-8") as file:
            self.assertEqual(text, file.read())

    def test_all_ranks_are_in_the_data(self):
        files = self.cluster("slow-host", 3, 10)
        tables = self.compare(files)
        self.assertEqual(sorted(row["rank"] for row in self.slow(tables)), list(range(24, 32)))
        self.assertEqual(len(self.rows(tables["ranks"])), 640)
        self.assertEqual(sum(row["count"] for row in self.rows(tables["groups"])), 640)
        self.assertEqual(run(dwell, "ranks", "--format", "csv", *files).stdout.split("\n\n")[0].strip().count("\n"), 640)

    def test_a_slow_rack(self):
        text = self.said("slow-rack", 2, 10, "slow-rank", 5, 10)
        self.assertIn("161 slow ranks, 160 of them on hosts gpu-r02-n* (all ranks there); they work ", text)
        self.assertLess(text.count("\n"), 40)

    def test_slow_hosts_with_one_number_in_several_racks(self):
        options = (word for rack in range(4) for host in (6,) for word in ("slow-host", rack * 20 + host, 10))
        self.assertIn("32 slow ranks, all on hosts gpu-r*-n07 (all ranks there)", self.said(*options))

    def test_slow_ranks_that_have_no_place_in_common(self):
        options = [word for rank in (3, 97, 201, 333, 402, 555, 611) for word in ("slow-rank", rank, 10)]
        text = self.said(*options)
        self.assertIn("7 slow ranks, on 7 of 80 hosts. No host, and no part of the hosts' names, has more of them than chance "
                      "explains; they work ", text)
        # Two of three in one rack of four are no sign of anything.
        self.assertNotIn("gpu-r*", self.said("slow-rank", 3, 10, "slow-rank", 97, 10, "slow-rank", 400, 10, name="b"))

    def test_no_slow_rank(self):
        text = self.said()
        self.assertIn("No rank stands out.", text)
        self.assertRegex(text, r"\n +640 +0-639 +80 hosts ")

    def test_few_ranks_have_rows_of_their_own(self):
        self.assertRegex(self.said("slow-rank", 3, 10, ranks=32), r"\n +31  gpu-r00-n04 ")


class Summary(Case):
    def test_any_order_gives_the_same_bytes(self):
        files = self.make(24, 200, "collectives", 100, "layers", 80, "operators", 160, "inputs", 3, 10)
        whole = self.summarize(files, "whole")
        for seed in range(5):
            parts, order = [], files[:]
            random.Random(seed).shuffle(order)
            for at in range(0, len(order), 7):
                parts.append(self.path(f"part{at}"))
                self.summarize(order[at:at + 7], f"part{at}")
            self.assertEqual(self.summarize(parts, "merged"), whole)
            self.assertEqual(self.summarize([*parts, files[3]], "again"), whole)

    def test_any_number_of_processes_gives_the_same(self):
        files = self.make(40, 60, "slow", 7, "forward", 10)
        want = self.summarize(files, "several")
        run("taskset", "-c", str(min(os.sched_getaffinity(0))), dwell, "summarize", *files, "-o", self.path("one"))
        with open(self.path("one"), "rb") as file:
            self.assertEqual(file.read(), want)
        with open(files[33], "wb") as file:
            file.write(b"dwellsum damaged")
        self.assertIn(files[33], run(dwell, "ranks", *files, status=1).stderr)

    def test_many_ranks_are_coarser_in_any_order(self):
        files = self.make(600, 300, "operators", 60, "layers", 60, "collectives", 100)
        parts = []
        for at in range(0, 600, 100):
            parts.append(self.path(f"part{at}"))
            self.summarize(files[at:at + 100], f"part{at}")
        merged = self.summarize(reversed(parts), "merged")
        self.assertEqual(merged, self.summarize(files, "whole"))
        self.assertLess(len(merged), 600 * 60000)

    def test_a_long_run_is_small(self):
        (file, _) = self.make(2, 60000, "operators", 2, "collectives", 100, "layers", 1)
        self.assertLess(len(self.summarize([file], "long")), 256 << 10)

    def test_the_comparison_is_that_of_the_traces(self):
        files = self.make(8, 300, "slow", 3, "backward", 5, "once", 6, 100, 200)
        self.summarize(files, "sum")
        self.assertEqual(run(dwell, "ranks", self.path("sum")).stdout, run(dwell, "ranks", *files).stdout)

    def test_older_versions_are_read(self):
        files = self.make(4, 40, "slow", 2, "data", 20, "layers", 2, "inputs", 1, 20, "collectives", 100)
        data = self.summarize(files, "now")
        new = self.compare([self.path("now")])
        for version, last in ((1, 24), (2, 28)):
            with open(self.path("old"), "wb") as file:
                file.write(older(data, version, last))
            old = self.compare([self.path("old")])
            for before, now in zip(self.rows(old["ranks"]), self.rows(new["ranks"])):
                self.assertEqual({key: now[key] for key, value in before.items() if value is not None},
                                 {key: value for key, value in before.items() if value is not None})
            self.assertEqual("collectives" in old, version > 1)

    def test_mixed_versions(self):
        files = self.make(4, 40, "slow", 2, "data", 20)
        parts = [files[0]]
        for i, (version, last) in enumerate(((1, 24), (2, 28), (3, 33)), 1):
            parts.append(self.path(f"part{i}"))
            data = self.summarize([files[i]], f"part{i}")
            with open(parts[-1], "wb") as file:
                file.write(older(data, version, last))
        self.assertEqual(run(dwell, "ranks", *parts).stdout, run(dwell, "ranks", *files).stdout)

    def test_damage_is_refused(self):
        data = self.summarize(self.make(2, 40, "collectives", 100), "good")
        for end in [*range(8, 40), *range(40, len(data), 397)]:
            with self.subTest(end=end):
                self.refused(data[:end])
        changed = bytearray(data)
        changed[8] = 99
        self.assertIn("version 99", self.refused(changed))
        self.assertIn("not a dwell trace", self.refused(data[:7]))

    def test_damage_with_a_right_checksum(self):
        data = self.summarize(self.make(2, 20, "operators", 2, "layers", 1, "inputs", 1, 5), "good")
        source = random.Random(7)
        for _ in range(150):
            changed = bytearray(data)
            for _ in range(source.choice((1, 1, 3))):
                changed[source.randrange(24, len(changed))] = source.randrange(256)
            changed[16:24] = checksum(changed[24:]).to_bytes(8, "little")
            with open(self.path("bad"), "wb") as file:
                file.write(changed)
            done = subprocess.run([dwell, "ranks", self.path("bad")], capture_output=True, check=False, timeout=60)
            self.assertIn(done.returncode, (0, 1), done.stderr)

    def refused(self, data):
        with open(self.path("bad"), "wb") as file:
            file.write(data)
        error = run(dwell, "ranks", self.path("bad"), status=1).stderr
        self.assertIn(self.path("bad"), error)
        return error

    def test_nothing_to_summarize(self):
        self.assertIn("no output is given", run(dwell, "summarize", "x.dwell", status=2).stderr)
        self.assertIn("no trace is given", run(dwell, "summarize", status=2).stderr)
        self.assertIn("nothing.dwell", run(dwell, "summarize", "nothing.dwell", "-o", self.path("x"), status=1).stderr)


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def number(value):
    text = bytearray()
    while value > 127:
        text.append(value & 127 | 128)
        value >>= 7
    return bytes([*text, value])


def older(data, version, last):
    """A summary as an older version wrote it: ranks have the fields up to number `last`."""
    ranks, at = b"", 24
    while at < len(data):
        length, at = varint(data, at + 1)
        end, rank = at + length, b""
        while at < end:
            begin = at
            key, at = varint(data, at)
            value, at = varint(data, at)
            at += value if key & 7 == 2 else 0
            rank += data[begin:at] if key >> 3 <= last else b""
        ranks += bytes([10]) + number(len(rank)) + rank
    return data[:8] + bytes([version, 0, 0, 0, 0, 0, 0, 0]) + checksum(ranks).to_bytes(8, "little") + ranks


def checksum(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return value


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0]] + [f"-k{name}" for name in sys.argv[5:]], exit=False).result
    failed = len({getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors})
    for test, why in result.skipped:
        print(f"skip {test}: {why}")
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
