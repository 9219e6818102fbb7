#!/usr/bin/env python3
"""dwell report --summary: its size limit, its keys and its figures.

usage: summary_test.py DWELL MKTRACE WORK [PART-OF-A-NAME...]

The class Schema needs the package jsonschema; the others need nothing.
The last line is "N passed, N failed, N skipped".
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import unpacked  # noqa: E402

dwell, mktrace, work = (os.path.abspath(path) for path in sys.argv[1:4])
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
VIEWS = os.path.join(HERE, "..", "golden", "views")
MADE = ["loader", "train", "nosteps", "empty", "names", "device_train", "memory", "ranks", "figures_both", "profiles"]
STORED = ["1.0-device.dwell", "1.0-program.dwell", "1.0-rich.dwell", "nsight/2024.5-cloverleaf.sqlite",
          "nsight/2022.2-saxpy.sqlite", "onnxruntime/1.32.0-mlp.json.gz"]
MOST = 65536


def stored(name):
    place = os.path.join(unpacked.folder(dwell), name)
    return place if os.path.exists(place) else os.path.join(unpacked.HERE, name)


def run(*command, status=0, **options):
    done = subprocess.run(command, capture_output=True, check=False, timeout=120, **options)
    if done.returncode != status:
        raise AssertionError(f"{command}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="dwell-summary-")
        cls.folder = cls.temporary.name

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def made(self, name, text=None):
        path = os.path.join(self.folder, name + ".dwell")
        source = os.path.join(VIEWS, name + ".txt")
        if text is not None:
            source = os.path.join(self.folder, name + ".txt")
            with open(source, "wb") as file:
                file.write(text)
        if not os.path.exists(path) or text is not None:
            run(mktrace, source, path)
        return path

    def summary(self, *arguments):
        output = run(dwell, "report", "--summary", "--format", "json", *arguments).stdout
        self.assertLessEqual(len(output), MOST)
        return json.loads(output)

    def view(self, name, *arguments):
        table = json.loads(run(dwell, "report", "-f", "json", "--view", name, *arguments).stdout)["views"][0]
        return table, [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]

    def crowd(self, name, operators, words):
        """A trace of Kineto with 20 steps and `operators` names, each called once, with `words` in each."""
        path, events = os.path.join(self.folder, name + ".json"), []
        for step in range(20):
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 7, "tid": 1,
                           "ts": 100000 * step, "dur": 90000})
            events += [{"ph": "X", "cat": "cpu_op", "name": f"{words}{i:07d}", "pid": 7, "tid": 1,
                        "ts": 100000 * step + 10 * place, "dur": 1 + place % 7}
                       for place, i in enumerate(range(step, operators, 20))]
        events.append({"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": words}})
        events.append({"ph": "M", "name": "thread_name", "pid": 7, "tid": 1, "args": {"name": words}})
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        return path

    def crowds(self):
        yield self.crowd("plain", 100000, "aten::operator_with_a_long_name_")
        yield self.crowd("hostile", 3000, "\x1b[31m\x01\x02\x03\\<script>|`*" + "\u202e" * 200)


class Summary(Folder):
    def test_verdicts_are_those_of_the_view_and_evidence_is_given(self):
        trace = self.made("loader")
        summary = self.summary(trace)
        _, rows = self.view("verdict", "--all", trace)
        fired = [row for row in rows if row["state"] == "yes"]
        self.assertEqual([row["rule"] for row in fired], [verdict["rule"] for verdict in summary["verdicts"]])
        self.assertTrue(fired)
        for row, verdict in zip(fired, summary["verdicts"]):
            for key in ("share", "low", "high", "of", "gain_ns", "statement", "question"):
                self.assertEqual(row[key], verdict[key], key)
            self.assertTrue(verdict["evidence"])
            for fact in verdict["evidence"]:
                self.assertIn(fact, summary["facts"])
        states = {row["rule"]: row["state"] for row in rows}
        self.assertEqual({rule for rule, state in states.items() if state == "no"}, set(summary["quiet_rules"]))
        missing = {rule: entry["why"] for entry in summary["not_measured"] for rule in entry["rules"]}
        self.assertEqual({row["rule"]: row["missing"] for row in rows if row["state"] == "not measured"}, missing)

    def test_facts_are_those_of_the_view(self):
        trace = self.made("loader")
        summary = self.summary(trace)
        _, rows = self.view("facts", trace)
        missing = {fact: entry["why"] for entry in summary["not_measured"] for fact in entry["facts"]}
        for row in rows:
            if row["missing"]:
                self.assertEqual(row["missing"], missing.pop(row["fact"]))
                continue
            fact = summary["facts"].pop(row["fact"])
            self.assertEqual([row[key] for key in ("value", "low", "high", "unit", "denominator", "samples")],
                             [fact[key] for key in ("value", "low", "high", "unit", "of", "samples")])
        self.assertEqual(({}, {}), (summary["facts"], missing))

    def test_parts_sum_to_the_step_and_operators_are_those_of_the_view(self):
        summary = self.summary(self.made("train"))
        self.assertAlmostEqual(1, sum(part["share"] for part in summary["parts"]), 6)
        self.assertAlmostEqual(summary["steps"]["mean_ns"], sum(part["ns"] for part in summary["parts"]), -1)
        self.assertAlmostEqual(summary["steps"]["loops_ns"], summary["steps"]["mean_ns"] * summary["steps"]["count"], -2)
        table, rows = self.view("operators", self.made("train"))
        self.assertEqual([(row["name"], row["calls"], row["self_ns"], row["share"]) for row in rows[:20]],
                         [(row["name"], row["calls"], row["self_ns"], row["share"]) for row in summary["operators"]])
        self.assertEqual(table["coverage"], summary["coverage"])

    def test_an_entry_is_the_row_of_the_view_by_the_names_of_columns(self):
        """A column that is renamed, or a view without it, is no null in the summary of CI."""
        entries = {
            "operators": ("operators", None, {key: key for key in ("name", "calls", "self_ns", "share", "self_per_step_ns", "loop_share")}),
            "kernels": ("kernels", "names", {"events": "calls", **{key: key for key in ("name", "family", "total_ns", "share", "operator")}}),
        }
        for name in ("train", "device_train", "nosteps", "device"):
            summary = self.summary(self.made(name))
            for key, (view, part, columns) in entries.items():
                if not summary[key]:
                    continue
                answer = json.loads(run(dwell, "report", self.made(name), "--view", view, "--format", "json").stdout)
                table = next(table for table in answer["views"] if table.get("part") == part)
                at = {column["name"]: i for i, column in enumerate(table["columns"])}
                if not summary["steps"]:
                    at["self_per_step_ns"] = at["loop_share"] = None
                for entry, row in zip(summary[key], table["rows"]):
                    self.assertEqual({member: None if at[column] is None else row[at[column]] for member, column in columns.items()}, entry)
                    if view == "kernels" or summary["steps"]:
                        self.assertTrue(all(value is not None for member, value in entry.items() if member != "operator"), entry)

    def test_without_steps_and_without_records(self):
        for name in ("nosteps", "empty"):
            summary = self.summary(self.made(name))
            self.assertIsNone(summary["steps"])
            self.assertEqual([], summary["verdicts"])
            # The parts are those of the iterations that the reader found, or of the run.
            self.assertAlmostEqual(1 if name == "nosteps" else 0, sum(part["share"] for part in summary["parts"]), 6)
            lacks = [view for entry in summary["not_measured"] for view in entry["views"]]
            self.assertEqual(["operators"] if not summary["operators"] else [], [view for view in lacks if view == "operators"])
            self.assertRegex(run(dwell, "report", "--summary", "-f", "md", self.made(name)).stdout, rb"No rule says anything about this run|no steps")

    def test_a_device(self):
        trace = os.path.join(unpacked.folder(dwell), "nsight/2024.5-cloverleaf.sqlite")
        summary = self.summary(trace)
        self.assertTrue(summary["kernels"])
        for kernel in summary["kernels"]:
            self.assertGreater(kernel["total_ns"], 0)
        text = run(dwell, "report", "--summary", "-f", "md", trace).stdout
        self.assertIn(b"| kernel or copy |", text)
        self.assertRegex(text, rb"busy for [0-9.]+ m?s, [0-9.]+% of the run")

    def test_losses_machine_and_damage(self):
        trace = self.made("figures_both")
        summary, (table, _) = self.summary(trace), self.view("facts", trace)
        self.assertTrue(summary["losses"])
        self.assertEqual([(loss["cause"], loss["records"]) for loss in table["losses"]],
                         [(loss["cause"], loss["records"]) for loss in summary["losses"]])
        self.assertEqual(table["coverage"], summary["coverage"])
        path = os.path.join(self.folder, "small.dwell")
        run(dwell, "run", "-o", path, "--", work, "5")
        self.assertEqual(os.cpu_count(), self.summary(path)["machine"]["cpus"])
        cut = os.path.join(self.folder, "cut.dwell")
        with open(path, "rb") as file, open(cut, "wb") as to:
            to.write(file.read()[:-6000])
        summary = self.summary(cut)
        self.assertEqual("repaired", summary["state"])
        self.assertTrue(summary["repairs"])

    def test_scope(self):
        trace = self.made("train")
        summary = self.summary(trace, "--steps", "3..7")
        self.assertEqual("3..7", summary["scope"]["steps"])
        self.assertEqual(5, summary["steps"]["count"])
        self.assertIn(b"Only steps 3..7", run(dwell, "report", "--summary", "-f", "md", trace, "--steps", "3..7").stdout)

    def test_any_trace_has_at_most_64_kb(self):
        for trace in self.crowds():
            summary = self.summary(trace)
            self.assertEqual((100000 if "plain" in trace else 3000) - len(summary["operators"]), summary["omitted"]["operators"])
            self.assertTrue(summary["verdicts"] or summary["quiet_rules"])
            page = run(dwell, "report", "--summary", "-f", "md", trace).stdout
            self.assertLessEqual(len(page), MOST)
            page.decode()
            self.assertIsNone(re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae|(?<!\\)<script", page))

    def test_what_makes_no_sense_is_refused(self):
        trace = self.made("train")
        for arguments, says in ((["--view", "steps"], "instead of views"), (["--layout", "torch"], "instead of views"),
                                (["--limit", "3"], "takes no --limit"), (["--format", "csv"], "has two formats"),
                                (["--format", "html"], "has two formats")):
            form = [] if "--format" in arguments else ["--format", "json"]
            said = run(dwell, "report", "--summary", *form, *arguments, trace, status=2).stderr.decode()
            self.assertIn(says, said, arguments)
        self.assertIn("has two formats", run(dwell, "report", "--summary", trace, status=2).stderr.decode())

    def test_python(self):
        script = ("import dwell, json\n"
                  "with dwell.profile() as profile:\n"
                  "    for i in range(5):\n"
                  "        dwell.step()\n"
                  "print(json.dumps(profile.summary()))\n")
        environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python"), "LD_LIBRARY_PATH": os.path.dirname(dwell)}
        output = run(sys.executable, "-c", script, env=environment, cwd=self.folder).stdout
        summary = json.loads(output.splitlines()[-1])
        self.assertEqual((1, 5), (summary["dwell_summary"], summary["steps"]["count"]))
        self.assertEqual(set(self.summary(self.made("train"))), set(summary))


class Schema(Folder):
    def test_summaries_fit_the_schema_and_it_names_every_key(self):
        import jsonschema
        with open(os.path.join(ROOT, "doc/reference", "machine-summary.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        with open(os.path.join(ROOT, "doc/reference", "machine-summary.md"), encoding="utf-8") as file:
            page = file.read()
        checker = jsonschema.validators.validator_for(schema)
        checker.check_schema(schema)

        def close(part):
            """A copy in which no object may have keys that the schema does not name."""
            if isinstance(part, list):
                return [close(item) for item in part]
            if not isinstance(part, dict):
                return part
            closed = {key: close(value) for key, value in part.items()}
            if "properties" in closed:
                closed["additionalProperties"] = False
                self.assertEqual(set(closed["properties"]), set(closed["required"]))
                for key in closed["properties"]:
                    self.assertIn(key, page, "a key that the page does not have")
            return closed

        strict = checker(close(schema))
        traces = [self.made(name) for name in MADE] + [stored(name) for name in STORED]
        for trace in [*traces, *self.crowds()]:
            errors = [error.message[:200] for error in strict.iter_errors(self.summary(trace))]
            self.assertEqual([], errors, trace)
        broken = self.summary(traces[0])
        broken["verdicts"][0]["share"] = "half"
        self.assertTrue(list(strict.iter_errors(broken)))


if __name__ == "__main__":
    names = sys.argv[4:]
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    tests = [test for group in suite for test in group if not names or any(name in test.id() for name in names)]
    result = unittest.TextTestRunner(verbosity=1).run(unittest.TestSuite(tests))
    failed = len({test.id() for test, _ in result.failures + result.errors})
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)
