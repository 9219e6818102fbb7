#!/usr/bin/env python3
"""dwell diff on traces whose times are known, and on real runs.

usage: diff_test.py DWELL MAKE_RANKS WORK CALIBRATE [PART-OF-A-NAME...]

make_ranks writes traces in which each step has the same parts, with noise; a planted change is known.
The last line is "N passed, N failed, N skipped".
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

dwell, make_ranks, work, calibrate = (os.path.abspath(path) for path in sys.argv[1:5])
STEP_MS = 36.0  # of make_ranks


def run(*command, status=0, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)
    if done.returncode != status:
        raise AssertionError(f"{command}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="dwell-diff-")
        cls.folder = cls.temporary.name

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def runs(self, name, count, percent=0, part="forward", seed=1, delay=None):
        """Traces of runs whose steps take `percent` percent longer, in one part. In each step the thread waits for a
        CPU for `delay` percent of a step, which is a part of its time; None: that is not known."""
        paths = []
        for i in range(count):
            folder = os.path.join(self.folder, f"{name}{i}" + ("" if delay is None else f"-{delay}"))
            paths.append(os.path.join(folder, "rank-0000.dwell"))
            if os.path.exists(paths[-1]):
                continue
            os.makedirs(folder)
            # runs differ: each has an offset of its own, which stands for the machine's state
            offset = random.Random(f"{name} {seed + i}").uniform(-0.5, 0.5)
            run(make_ranks, folder, "1", "60", "noise", "1", "seed", str(100 * seed + i), "slow", "0", part,
                str(percent + offset), *([] if delay is None else ["delay", str(delay)]))
        return paths

    def diff(self, *arguments, status=0):
        document = json.loads(run(dwell, "diff", "--format", "json", *arguments, status=status).stdout)
        tables = {}
        for table in document["views"]:
            names = [column["name"] for column in table["columns"]]
            tables[table["part"]] = [dict(zip(names, row)) for row in table["rows"]]
            tables[table["part"] + " heads"] = table.get("heads", [])
        return tables


class Verdict(Case):
    def test_slower_and_faster(self):
        before, after = self.runs("a", 4), self.runs("b", 4, percent=5, seed=2)
        verdict = self.diff(*before, "--", *after)["verdict"][0]
        self.assertEqual("slower", verdict["verdict"])
        self.assertAlmostEqual(0.05, verdict["change"], delta=0.01)
        self.assertGreater(verdict["change_low"], 0)
        self.assertLess(verdict["detectable"], 0.05)
        verdict = self.diff(*after, "--", *before)["verdict"][0]
        self.assertEqual("faster", verdict["verdict"])
        self.assertLess(verdict["change_high"], 0)

    def test_no_difference(self):
        found = self.diff(*self.runs("a", 4), "--", *self.runs("c", 4, seed=3))
        self.assertEqual("no difference", found["verdict"][0]["verdict"])
        self.assertIn("is found 95 times of 100", found["verdict heads"][1])
        self.assertGreater(found["verdict"][0]["detectable"], 0)

    def test_one_run_a_side_shows_no_cause(self):
        verdict = self.diff(self.runs("a", 1)[0], self.runs("b", 1, percent=5, seed=2)[0])["verdict"][0]
        self.assertEqual("two runs", verdict["verdict"])
        self.assertIsNone(verdict["change_low"])

    def test_one_run_against_several(self):
        verdict = self.diff(*self.runs("a", 4), "--", self.runs("e", 1, percent=10, seed=5)[0])["verdict"][0]
        self.assertEqual("slower", verdict["verdict"])

    def test_another_machine(self):
        paths = [os.path.join(self.folder, name) for name in ("here.dwell", "there.dwell")]
        for path in paths:
            run(dwell, "run", "-o", path, "--", work, "20")
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
        if not model:
            self.skipTest("this processor has no name")
        with open(paths[1], "rb+") as file:
            content = file.read()
            self.assertIn(model[0].encode(), content)
            file.seek(0)
            file.write(content.replace(model[0].encode(), b"Q" * len(model[0].encode())))
        found = self.diff(*paths)
        self.assertEqual("not comparable", found["verdict"][0]["verdict"])
        self.assertIn("machine", found["verdict"][0]["reasons"])
        self.assertIn(f"{model[0]}", found["verdict heads"][0])
        found = self.diff("--accept", "machine,contention", *paths)
        self.assertEqual("two runs", found["verdict"][0]["verdict"])

    def test_fewer_cpus_for_the_program(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("this machine has one CPU")
        paths = [os.path.join(self.folder, name) for name in ("all.dwell", "one.dwell")]
        run(dwell, "run", "-o", paths[0], "--", work, "20")
        run("taskset", "-c", str(min(os.sched_getaffinity(0))), dwell, "run", "-o", paths[1], "--", work, "20")
        found = self.diff(*paths)
        self.assertIn("machine", found["verdict"][0]["reasons"])
        self.assertIn("1 of them", found["verdict heads"][0])


class Contention(Case):
    """The waits for a CPU differ between the sides."""

    def compare(self, before, after, *arguments, status=0):
        """Each side is (how many percent longer its steps are, how many percent of a step they wait)."""
        sides = [self.runs(f"w{percent}-{seed}-", 5, percent=percent, seed=seed, delay=delay)
                 for (percent, delay), seed in zip((before, after), (21, 31))]
        found = self.diff(*arguments, *sides[0], "--", *sides[1], status=status)
        return found["verdict"][0], " ".join(found["verdict heads"])

    def test_a_small_bound_does_not_refuse(self):
        # As two sets of runs of one program beside another program: 1.8% and 0.7% of a step.
        for question in ["--fail-on", "20%"], []:
            verdict, said = self.compare((1.1, 1.8), (0, 0.7), *question)
            self.assertEqual("no difference", verdict["verdict"])
        self.assertRegex(said, r"-1\.\d+% can be these waits; the interval allows for that")
        self.assertGreater(verdict["change_high"], verdict["change"] + 0.011)

    def test_waits_that_explain_the_verdict(self):
        verdict, said = self.compare((0, 0.1), (6, 6))
        self.assertEqual(("not comparable", "contention"), (verdict["verdict"], verdict["reasons"]))
        self.assertRegex(said, r"\+5\.\d+% can be these waits")
        # Accepted, the times are compared as they are.
        verdict, said = self.compare((0, 0.1), (6, 6), "--accept", "contention")
        self.assertEqual("slower", verdict["verdict"])
        self.assertIn("makes no allowance", said)

    def test_waits_that_explain_a_part_of_it(self):
        verdict, _ = self.compare((0, 0.1), (12, 6))
        self.assertEqual("slower", verdict["verdict"])
        self.assertAlmostEqual(0.06, verdict["change_low"], delta=0.012)
        self.assertAlmostEqual(0.12, verdict["change_high"], delta=0.012)
        verdict, _ = self.compare((12, 6), (0, 0.1))
        self.assertEqual("faster", verdict["verdict"])

    def test_the_threshold_decides_what_is_asked(self):
        self.compare((0, 0.1), (12, 6), "--fail-on", "3%", status=3)    # 6% to 12%
        self.compare((0, 0.1), (12, 6), "--fail-on", "9%", status=4)
        self.compare((0, 0.1), (12, 6), "--fail-on", "20%")
        # The waits before hid that the program became slower, by 8%.
        self.compare((8, 8), (8, 0.1), "--fail-on", "5%", status=4)
        self.compare((8, 8), (8, 0.1), "--fail-on", "12%")

    def test_equal_waits_change_nothing(self):
        plain, _ = self.compare((0, None), (5, None))
        waits, said = self.compare((0, 30), (5, 30))
        self.assertNotIn("can be these waits", said)
        for key in ("change", "change_low", "change_high", "detectable"):
            self.assertAlmostEqual(plain[key], waits[key], delta=1e-3)

    def test_two_runs(self):
        one, same, more = (self.runs(f"p{i}", 1, percent=percent, delay=delay)[0]
                           for i, (percent, delay) in enumerate(((0, 0.1), (10, 9), (20, 5))))
        self.assertEqual("not comparable", self.diff(one, same)["verdict"][0]["verdict"])
        self.assertEqual("two runs", self.diff(one, more)["verdict"][0]["verdict"])


class Fast(Case):
    def disturbed(self, name, percent, seed):
        """Five runs, of which others slowed down one by a quarter."""
        return (self.runs(name, 4, percent=percent, seed=seed) +
                self.runs(f"{name}-disturbed", 1, percent=percent + 25, seed=seed + 50))

    def test_finds_what_disturbed_runs_hide(self):
        before, after = self.disturbed("g", 0, 11), self.disturbed("h", 5, 12)
        found = self.diff(*before, "--", *after)
        self.assertEqual("not proven", found["verdict"][0]["verdict"])
        self.assertEqual("time per step", found["verdict"][0]["by"])
        self.assertIn("With --by fast", " ".join(found["verdict heads"]))
        found = self.diff("--by", "fast", *before, "--", *after)
        verdict = found["verdict"][0]
        self.assertEqual(("slower", "fast steps"), (verdict["verdict"], verdict["by"]))
        self.assertAlmostEqual(0.05, verdict["fast_change"], delta=0.015)
        self.assertLess(0, verdict["fast_low"])
        self.assertLess(verdict["fast_low"], verdict["fast_change"])
        self.assertLess(verdict["fast_change"], verdict["fast_high"])
        run(dwell, "diff", "--by", "fast", "--fail-on", "3%", *before, "--", *after, status=3)
        verdict = self.diff("--by", "fast", *before, "--", *self.disturbed("i", 0, 13))["verdict"][0]
        self.assertEqual("no difference", verdict["verdict"])

    def test_names_where_fast_steps_differ(self):
        found = self.diff("--by", "fast", *self.disturbed("g", 0, 11), "--", *self.disturbed("h", 5, 12))
        verdict, rows = found["verdict"][0], found["fast"]
        for key, wanted in (("before_ns", verdict["fast_before_ns"]), ("after_ns", verdict["fast_after_ns"]),
                            ("difference_ns", verdict["fast_after_ns"] - verdict["fast_before_ns"])):
            self.assertAlmostEqual(wanted, sum(row[key] for row in rows), delta=1)
        self.assertEqual("forward.kernel", rows[0]["name"])
        self.assertAlmostEqual(0.05 * STEP_MS * 1e6, rows[0]["difference_ns"], delta=0.4e6)
        self.assertLess(0, rows[0]["low_ns"])
        self.assertLess(rows[0]["low_ns"], rows[0]["high_ns"])
        self.assertEqual(("everything else", None), (rows[-1]["name"], rows[-1]["low_ns"]))
        self.assertNotIn("fast", self.diff(*self.disturbed("g", 0, 11), "--", *self.disturbed("h", 5, 12)))

    def test_needs_four_runs_a_side(self):
        before, after = self.runs("a", 4), self.runs("b", 4, percent=5, seed=2)
        self.assertEqual("slower", self.diff("--by", "fast", *before, "--", *after)["verdict"][0]["verdict"])
        said = run(dwell, "diff", "--by", "fast", *before[:3], "--", *after[:3], status=2).stderr
        self.assertIn("at least 4 runs a side", said)
        self.assertIsNone(self.diff(*before[:3], "--", *after[:3])["verdict"][0]["fast_low"])


class Waterfall(Case):
    def test_differences_of_parts_sum_to_the_whole(self):
        found = self.diff(*self.runs("a", 4), "--", *self.runs("b", 4, percent=5, seed=2))
        whole = found["verdict"][0]["after_ns"] - found["verdict"][0]["before_ns"]
        for key, wanted in ("difference_ns", whole), ("before_ns", found["verdict"][0]["before_ns"]):
            self.assertAlmostEqual(wanted, sum(row[key] for row in found["parts"]), delta=1)
        self.assertEqual("forward", found["parts"][0]["name"])
        self.assertAlmostEqual(0.05 * STEP_MS * 1e6, found["parts"][0]["difference_ns"], delta=0.4e6)
        self.assertGreater(found["parts"][0]["low_ns"], 0)

    def test_operators(self):
        found = self.diff(*self.runs("a", 4), "--", *self.runs("b", 4, percent=5, seed=2))
        self.assertEqual("forward.kernel", found["operators"][0]["name"])
        self.assertEqual(4, found["operators"][0]["calls_before"])
        runs = found["runs"]
        self.assertEqual(["before"] * 4 + ["after"] * 4, [row["side"] for row in runs])
        self.assertAlmostEqual(found["verdict"][0]["before_ns"], sum(row["ns"] for row in runs[:4]) / 4, delta=1)

    def test_the_measure_is_that_of_reports(self):
        """A step, its parts and its operators are those of the report, and a step times the steps is the loop."""
        paths = self.runs("a", 1) + self.runs("b", 1, percent=5, seed=2, delay=3)
        found = self.diff(*paths, "--accept", "contention")
        for path, row, side in zip(paths, found["runs"], ("before_ns", "after_ns")):
            report = json.loads(run(dwell, "report", "--summary", "--format", "json", path).stdout)
            parts = {part["name"]: part["ns"] for part in report["parts"] if part["ns"]}
            self.assertAlmostEqual(report["steps"]["mean_ns"], row["ns"], delta=1)
            self.assertAlmostEqual(report["steps"]["loops_ns"], row["ns"] * row["steps"], delta=row["steps"])
            self.assertEqual(parts.keys(), {row["name"] for row in found["parts"] if row[side]})
            for part in found["parts"]:
                self.assertAlmostEqual(parts.get(part["name"], 0), part[side], delta=1)
            view = json.loads(run(dwell, "report", "--view", "operators", "--format", "json", path).stdout)["views"][0]
            names = [column["name"] for column in view["columns"]]
            operators = {row["name"]: row["self_per_step_ns"] for row in (dict(zip(names, row)) for row in view["rows"])}
            for operator in found["operators"]:
                self.assertAlmostEqual(operators[operator["name"]], operator[side], delta=1)

    def test_formats(self):
        arguments = self.runs("a", 2) + ["--"] + self.runs("b", 2, percent=5, seed=2)
        markdown = run(dwell, "diff", "-f", "md", *arguments).stdout
        self.assertIn("| **all** |", markdown)
        self.assertTrue(run(dwell, "diff", *arguments).stdout.startswith("Slower: +"))
        self.assertIn("forward", run(dwell, "diff", "-f", "csv", *arguments).stdout)


class Flame(Case):
    def draw(self, *arguments):
        """The nodes of the picture: class of the colour, name, rest of the tooltip, row, begin and width in percent."""
        picture = os.path.join(self.folder, "flame.svg")
        run(dwell, "diff", "-f", "svg", "-o", picture, *arguments)
        space = "{http://www.w3.org/2000/svg}"
        root = xml.etree.ElementTree.parse(picture).getroot()
        frames = next(part for part in root.iter(space + "svg") if part.get("class") == "frames")
        nodes = []
        for group in frames.findall(space + "g"):
            name, rest = group.find(space + "title").text.split("\n")
            bar = group.find(space + "rect")
            nodes.append((group.get("class").split()[0], name, rest, int(bar.get("y")), float(bar.get("x")[:-1]),
                          float(bar.get("width")[:-1])))
        texts = [part.text for part in root.iter(space + "text") if part.text]
        return nodes, texts

    def test_the_slower_function_is_the_reddest(self):
        nodes, texts = self.draw(*self.runs("a", 4), "--", *self.runs("b", 4, percent=5, seed=2))
        self.assertEqual(["forward.kernel"], [node[1] for node in nodes if node[0] == "c18"])
        slower = next(node for node in nodes if node[0] == "c18")
        self.assertRegex(slower[2], r"ms before, \+1\.\d+ ms; self .*, \+1\.\d+ ms; calls a step 4 before, 4 after")
        self.assertRegex(texts[0], r"^Slower: \+[45]\.\d% per step \(4 runs before, 4 after\)")
        self.assertIn("Width: time per step after", texts[1])
        self.assertIn("Colour: change of self time, at most 1.", texts[1])
        self.assertRegex(" ".join(texts), r"\+1\.\d+ ms to \+1\.\d+ ms")  # the legend
        nodes, _ = self.draw(*self.runs("b", 4, percent=5, seed=2), "--", *self.runs("a", 4))
        self.assertEqual(["forward.kernel"], [node[1] for node in nodes if node[0] == "c14"])

    def test_the_name_of_the_program_does_not_matter(self):
        """The threads of two programs with other names are the same rows, so that nothing is new and nothing is gone."""
        other, paths = os.path.join(self.folder, "renamed"), [os.path.join(self.folder, name) for name in ("as.dwell", "was.dwell")]
        os.symlink(work, other)
        run(dwell, "run", "-o", paths[0], "--", work, "20")
        run(dwell, "run", "-o", paths[1], "--", other, "20")
        nodes, texts = self.draw(*paths, "--accept", "contention")
        self.assertIn("main thread", [node[1] for node in nodes])
        self.assertNotIn("Only before", texts[1])
        for node in nodes:
            self.assertNotRegex(node[2], r"; 0 ?\w* before")

    def test_widths_sum(self):
        nodes, _ = self.draw(*self.runs("a", 4), "--", *self.runs("b", 4, percent=5, seed=2))
        self.assertEqual(("all", 100), (nodes[0][1], nodes[0][5]))
        rows = sorted({node[3] for node in nodes}, reverse=True)
        for above, below in zip(rows, rows[1:]):
            for parent in (node for node in nodes if node[3] == above):
                inner = sum(node[5] for node in nodes if node[3] == below and
                            parent[4] <= node[4] < parent[4] + parent[5])
                self.assertLessEqual(inner, parent[5] + 1e-4, parent)
        self.assertAlmostEqual(100, sum(node[5] for node in nodes if node[3] == rows[1]), delta=1e-4)


class Continuous(Case):
    def test_fail_on(self):
        before, after = self.runs("a", 4), self.runs("b", 4, percent=5, seed=2)
        run(dwell, "diff", "--fail-on", "3%", *before, "--", *after, status=3)
        run(dwell, "diff", "--fail-on", "8%", *before, "--", *after)
        run(dwell, "diff", *after, "--", *before, "--fail-on", "3%")
        said = run(dwell, "diff", "--fail-on", "0.01%", *before, "--", *self.runs("c", 4, seed=3)).stderr
        self.assertIn("needs more runs", said)

    def test_bad_input(self):
        a, b = self.runs("a", 2)
        for arguments, status, says in (
                ([a, b, "--fail-on", "5%"], 2, "needs several runs a side"),
                ([a, b, "--fail-on", "five"], 2, "takes a percentage"),
                ([a, b, "--accept", "weather"], 2, "not 'weather'"),
                ([a], 2, "one trace is given"), ([a, "--"], 2, "no trace is given after"),
                ([a, "--", a], 2, "is given twice"), ([a, "missing.dwell"], 1, "missing.dwell"),
                ([a, make_ranks], 1, "is not a dwell trace")):
            self.assertIn(says, run(dwell, "diff", *arguments, status=status).stderr, arguments)
        empty = os.path.join(self.folder, "empty.dwell")
        run(dwell, "run", "-o", empty, "--", work, "0")
        self.assertIn("no complete steps to compare", run(dwell, "diff", a, empty, status=1).stderr)

    def test_runs_without_steps(self):
        traces = []
        for name, seconds in (("short", ".4"), ("long", "1.2")):
            traces.append(os.path.join(self.folder, name + ".dwell"))
            run(dwell, "run", "-o", traces[-1], "--", sys.executable, "-c", f"import time; time.sleep({seconds})")
        text = run(dwell, "diff", *traces, "--accept", "contention").stdout
        self.assertRegex(text, r"waits: sleeps +[\d.]+ +[\d.]+ +(7\d\d|8[0-4]\d)ms")  # 800 ms more
        self.assertIn("No steps are marked: a step is the whole run.", text)
        self.assertRegex(text, r"Processor time of a run, of all processes: [-+\d.]+%, \d+")
        self.assertNotIn("fast steps", text.lower())
        self.assertIn("and another run has", run(dwell, "diff", self.runs("a", 1)[0], traces[0], status=1).stderr)

    def test_functions_of_runs_without_steps(self):
        traces = []
        for name, rounds in (("less", 2), ("more", 6)):
            traces.append(os.path.join(self.folder, name + ".dwell"))
            run(dwell, "run", "-o", traces[-1], "--", sys.executable, "-c",
                f"def work(n):\n    return sum(i * i for i in range(n))\nfor i in range({rounds}): work(2000000)")
        found = self.diff(*traces, "--accept", "contention")
        rows = {row["name"]: row for row in found["functions"]}
        largest = found["functions"][0]
        self.assertIn("work", largest["name"])
        self.assertGreater(largest["low_ns"], 0, rows)
        self.assertLess(largest["low_ns"], largest["difference_ns"])
        verdict = found["verdict"][0]
        self.assertAlmostEqual(verdict["cpu_after_ns"] - verdict["cpu_before_ns"],
                               sum(row["difference_ns"] for row in found["functions"]),
                               delta=0.15 * verdict["cpu_after_ns"])

    def test_damaged_trace(self):
        a, b = self.runs("a", 2)
        cut = os.path.join(self.folder, "cut.dwell")
        with open(b, "rb") as file, open(cut, "wb") as to:
            to.write(file.read()[:-6000])
        done = subprocess.run([dwell, "diff", a, cut], capture_output=True, text=True, check=False, timeout=60)
        self.assertIn(done.returncode, (0, 1))
        self.assertIn("cut.dwell", done.stderr)


class Statistics(Case):
    def test_false_alarms_and_power(self):
        """Normal figures, time per step: 5% of false alarms; a change of 2.63 * sqrt(1/2.5) deviations is found in 95%."""
        generator = random.Random(7)
        lines = [f"0 {generator.gauss(100, 1)}" for _ in range(900)]
        lines += [f"1 {generator.gauss(102.63, 1)}" for _ in range(900)]
        rows = [[float(value) for value in line.split()] for line in
                run(calibrate, "20000", "50", input="\n".join(lines)).stdout.splitlines()]
        self.assertEqual([1, 3, 5, 10], [row[0] for row in rows])
        for row in rows[1:]:
            self.assertLess(row[1], 0.057)
        for row in rows[2:]:  # fast steps; 50 draws
            self.assertLess(row[4], 0.1)
            self.assertGreater(row[5], 0.5)
        self.assertGreater(rows[3][1], 0.043)
        self.assertAlmostEqual(0.95, rows[2][2], delta=0.03)
        self.assertAlmostEqual(0.0263, rows[2][3], delta=0.003)


if __name__ == "__main__":
    selected = sys.argv[5:]
    loader = unittest.TestLoader()
    suite = unittest.TestSuite(test for group in loader.loadTestsFromModule(sys.modules[__name__]) for test in group
                               if not selected or any(part in test.id() for part in selected))
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
