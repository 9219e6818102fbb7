#!/usr/bin/env python3
"""Filters of views: for each view and each filter, the answer is that of a reference, or a message names the option.

usage: filters_test.py DWELL MKTRACE [PART-OF-A-NAME...]

The references are computed from the tables of `dwell export --format sqlite` and from the rows of the
unfiltered view. The last line is "N passed, N failed, N skipped".
"""
import collections
import contextlib
import fnmatch
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

dwell, mktrace = (os.path.abspath(path) for path in sys.argv[1:3])
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "views")
TRACES = ["train", "loader", "layers", "device_train", "engine", "memory", "flops", "values", "calls", "ranks",
          "figures_functions", "figures_threads", "sequence", "verdict_device"]
# Where a view has its names and its times; None: it must refuse the option.
ROWS = {"overview": (None, None), "verdict": ("rule", None), "steps": (None, "duration_ns"),
        "phases": ("phase", "total_ns"), "actions": ("name", "total_ns"), "events": ("event", "total_ns"),
        "handlers": ("handler", "total_ns"), "operators": ("name", "total_ns"), "sequence": ("name", "mean_ns"),
        "calls": ("name", "total_ns"), "functions": ("name", "total_ns"), "layers": ("name", "total_ns"),
        "dataloader": ("name", "total_ns"), "gc": ("name", "total_ns"), "tree": ("name", "total_ns"),
        "threads": ("thread", "busy_ns"), "stragglers": (None, None), "counters": ("counter", None),
        "marks": ("mark", None), "async": ("name", "total_ns"), "flows": ("flow", None), "memory": (None, None),
        "flops": ("name", "total_ns"), "facts": ("fact", None), "device": (None, None),
        "kernels": ("name", "total_ns"), "streams": (None, None)}
# Their figures are of whole steps, or of a device's time.
WHOLE = {"overview", "verdict", "facts", "phases", "events", "handlers", "sequence", "stragglers", "device", "streams"}
TREES = {"tree", "layers"}  # rows stay with their parents
# The only views that have an option of their own.
OWN = {"--leaves": {"layers"}, "--per-call": {"layers"}, "--events": {"layers"}, "--paths=*": {"layers"}, "--all": {"verdict"},
       "--merge-threads": {"threads"}, "--top-level": {"operators", "calls"}, "--group-by=shape": {"operators", "calls"},
       "--skip-iteration=0": {"sequence"}, "--engine=none": {"events", "handlers"},
       "--header=x": set(), "--widths=name=9": set(), "--verbosity=1": set()}


def attempt(*arguments):
    return subprocess.run([dwell, *arguments], capture_output=True, text=True, check=False, timeout=60)


class Filters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="dwell-filters-")
        cls.traces, cls.unfiltered = {}, {}
        for name in TRACES:
            cls.traces[name] = os.path.join(cls.temporary.name, name + ".dwell")
            subprocess.run([mktrace, os.path.join(GOLDEN, name + ".txt"), cls.traces[name]], check=True)
            for view in ROWS:
                tables = cls.view(name, view)
                if not isinstance(tables, str):
                    cls.unfiltered[name, view] = tables

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def view(cls, trace, view, *arguments):
        """The tables of a view, rows as dicts; or the message, if it is refused."""
        done = attempt("report", "-f", "json", "--view", view, cls.traces[trace], *arguments)
        if done.returncode:
            return done.stderr
        tables = json.loads(done.stdout)["views"]
        for table in tables:
            names = [column["name"] for column in table["columns"]]
            table["rows"] = [dict(zip(names, row)) for row in table["rows"]]
        return tables

    def database(self, trace):
        path = os.path.join(self.temporary.name, trace + ".db")
        if not os.path.exists(path):
            done = attempt("export", "-f", "sqlite", "-o", path, self.traces[trace])
            self.assertEqual(0, done.returncode, done.stderr)
        return contextlib.closing(sqlite3.connect(path))

    def test_every_view_is_looked_at(self):
        self.assertEqual(set(ROWS), {view for _, view in self.unfiltered})

    def test_names_and_durations(self):
        for (trace, view), tables in self.unfiltered.items():
            column, ns = ROWS[view]
            values = sorted(row[ns] for table in tables for row in table["rows"] if ns and row.get(ns) is not None)
            least = values[len(values) // 2] if values else 1
            for option, value, key, keep in (
                    ("--name", "*a*", column, lambda cell: isinstance(cell, str) and fnmatch.fnmatchcase(cell, "*a*")),
                    ("--min-duration", f"{int(least)}ns", ns, lambda cell: cell is not None and cell >= int(least))):
                found = self.view(trace, view, option, value)
                if not key:
                    self.assertIsInstance(found, str, (trace, view, option))
                    self.assertIn(f"has no {option}", found)
                    continue
                self.assertIsInstance(found, list, (trace, view, option, found))
                for before, after in zip(tables, found):
                    self.assertEqual(value, after["scope"]["name" if option == "--name" else "min_duration"])
                    wanted = [row for row in before["rows"] if key in row and keep(row[key])]
                    rows = after["rows"]
                    if view in TREES:
                        self.assertLessEqual(len(wanted), len(rows))
                        rows = [row for row in rows if keep(row[key])]
                    self.assertEqual(wanted, rows, (trace, view, option))
                    self.assertEqual(before["totals"], after["totals"])

    def test_options_that_a_view_does_not_have(self):
        for (trace, view), _ in self.unfiltered.items():
            for option, views in OWN.items():
                if trace != "train" and view in {key for name, key in self.unfiltered if name == "train"}:
                    continue
                found = self.view(trace, view, option)
                name = option.split("=")[0]
                if view in views:
                    self.assertNotIn(f"has no {name}", found if isinstance(found, str) else "", (view, option))
                else:
                    self.assertIsInstance(found, str, (view, option))
                    self.assertIn(f"the view {view} has no {name}", found)
        for option in ("--name=x", "--min-duration=1ms", "--leaves", "--per-call", "--all", "--merge-threads"):
            done = attempt("report", "--layout", "torch", option, self.traces["train"])
            self.assertEqual(2, done.returncode)
            self.assertIn(f"the layout torch has no {option.split('=')[0]}", done.stderr)
            done = attempt("report", "--format", "html", option, self.traces["train"])
            self.assertEqual(2, done.returncode)
            self.assertIn(f"has no {option.split('=')[0]}", done.stderr)

    def chrome(self, trace, *arguments):
        """The events of an export as a multiset, without arrows. A range that does not nest has two events; here it is one."""
        done = attempt("export", "-f", "chrome", *arguments, self.traces[trace])
        self.assertEqual(0, done.returncode, done.stderr)
        every = json.loads(done.stdout)["traceEvents"]
        ends = {(event["id"], event["name"]): event["ts"] for event in every if event["ph"] == "e"}
        return collections.Counter((event["ph"], event["name"], event["ts"],
                                    ends[event["id"], event["name"]] - event["ts"] if event["ph"] == "b" else event.get("dur", 0),
                                    event["pid"], event["tid"]) for event in every if event["ph"] not in "Msfe")

    def test_exports(self):
        own = ("[memory]", "Record Window End", "Iteration Start: PyTorch Profiler")
        for trace in TRACES:
            every = self.chrome(trace)
            with self.database(trace) as database:
                tables = {table: {row[1] for row in database.execute(f"pragma table_info({table})")}
                          for table, in database.execute("select name from sqlite_master where type = 'table'").fetchall()}
                names = {name for table, columns in tables.items() if "name" in columns and columns & {"start_ns", "time_ns"}
                         for name, in database.execute(f"select name from {table}")}
            times = sorted(event[3] for event in every.elements() if event[1] in names and event[3])
            least = times[len(times) // 2] if times else 1
            found = self.chrome(trace, "--name", "*a*")
            self.assertEqual({event: count for event, count in every.items() if event[1] not in names or event[1] in own or
                              fnmatch.fnmatchcase(event[1], "*a*")}, found, trace)
            found = self.chrome(trace, "--min-duration", f"{round(least * 1000)}ns")
            self.assertEqual({event: count for event, count in every.items()
                              if event[0] not in "Xb" or event[1] not in names or event[3] >= least}, found, trace)
            for form in ("perfetto", "xplane"):
                sizes = []
                for arguments in ((), ("--name", "*a*"), ("--name", "no such name"), ("--min-duration", "3600s")):
                    path = os.path.join(self.temporary.name, "export." + form)
                    done = attempt("export", "-f", form, "-o", path, *arguments, self.traces[trace])
                    self.assertEqual(0, done.returncode, done.stderr)
                    sizes.append(os.path.getsize(path))
                self.assertGreaterEqual(sizes[0], sizes[1])
                self.assertGreaterEqual(sizes[1], sizes[2])
                self.assertGreaterEqual(sizes[0], sizes[3])

    def test_exports_without_filters(self):
        for form in ("folded", "pprof", "flamegraph", "icicle", "memory", "pstats", "sqlite"):
            for option, value in (("--name", "x"), ("--min-duration", "1ms")):
                done = attempt("export", "-f", form, "-o", os.path.join(self.temporary.name, "x"), option, value, self.traces["train"])
                self.assertEqual(2, done.returncode, (form, option, done.stderr))
                self.assertIn(f"{form} has no {option}; these formats have it: chrome, perfetto, speedscope, xplane", done.stderr)
        done = attempt("export", "-f", "chrome", "--min-duration", "5", self.traces["train"])
        self.assertEqual(2, done.returncode)
        self.assertIn("give a time with its unit", done.stderr)

    def windows(self, trace):
        with self.database(trace) as database:
            begins = [begin for begin, in database.execute(
                "select start_ns from ranges union select time_ns from counters union select time_ns from marks union "
                "select time_ns from allocations union select start_ns from async_ranges order by 1")]
            (end,), = database.execute("select end_ns from run").fetchall()
        middle = begins[len(begins) // 3], begins[2 * len(begins) // 3]
        return [(0, end + 1), middle, (middle[0] + 1, end), (0, middle[1] + 1)]

    def test_times(self):
        compared, windows = collections.Counter(), {trace: self.windows(trace) for trace in TRACES}
        for (trace, view), _ in self.unfiltered.items():
            for begin, end in windows[trace]:
                found = self.view(trace, view, "--time", f"{begin}ns..{end}ns")
                if isinstance(found, str):
                    self.assertRegex(found, r"(has|were|are) no|^dwell: no .* recorded here", (trace, view))
                    found = [{"rows": [], "scope": {"time": ""}}]
                self.assertTrue(all("time" in table["scope"] for table in found))
                reference = getattr(self, "reference_" + view, None)
                if reference:
                    with self.database(trace) as database:
                        wanted, have = reference(database, begin, end, found)
                    self.assertEqual(wanted, have, (trace, view, begin, end))
                    compared[view] += 1
        self.assertEqual(set(ROWS) - WHOLE, set(compared))

    def test_time_of_whole_steps(self):
        """In a trace without ranges between the steps, the time of steps is the same part as the steps."""
        compared = set()
        for trace in ("device_train", "ranks", "verdict_device", "sequence"):
            with self.database(trace) as database:
                steps = database.execute("select step, start_ns, start_ns + duration_ns from steps order by start_ns").fetchall()
            first, last = steps[1], steps[-1]
            by_steps = "--steps", f"{first[0]}..{last[0]}"
            by_time = "--time", f"{first[1]}ns..{last[2]}ns"
            for view in sorted(WHOLE - {"overview"}):
                one, other = self.view(trace, view, *by_steps), self.view(trace, view, *by_time)
                if isinstance(one, str):
                    self.assertEqual(one, other)
                    continue
                compared.add(view)
                self.assertEqual([table["rows"] for table in one], [table["rows"] for table in other], (trace, view))
            if trace != "ranks":  # whose overview says how long the run was
                one, other = (attempt("report", self.traces[trace], *part).stdout.split("\n", 1)[1] for part in (by_steps, by_time))
                self.assertEqual(one, other)
                compared.add("overview")
        self.assertEqual(WHOLE, compared)

    def by_name(self, database, begin, end, found, where, column="calls", name="name"):
        wanted = dict(database.execute(f"select name, count(*) from ranges where {where} and start_ns >= {begin} "
                                       f"and start_ns < {end} group by name"))
        have = collections.Counter()
        for row in found[0]["rows"]:
            have[row[name]] += row[column] or 0
        return wanted, dict(have)

    def reference_operators(self, database, begin, end, found):
        return self.by_name(database, begin, end, found, "category = 'operator'")

    def reference_calls(self, database, begin, end, found):
        wanted, have = self.by_name(database, begin, end, found, "category = 'operator'")
        return wanted, {name: have[name] for name in have if name in wanted}

    def reference_gc(self, database, begin, end, found):
        wanted, have = self.by_name(database, begin, end, found, "category = 'collector'")
        return sum(wanted.values()), sum(have.values())

    def reference_functions(self, database, begin, end, found):
        wanted, have = self.by_name(database, begin, end, found, "category = 'function'")
        return sum(wanted.values()), sum(have.values())

    def reference_actions(self, database, begin, end, found):
        wanted, have = self.by_name(database, begin, end, found, "1")
        return {name: wanted.get(name) for name in have}, have

    def reference_tree(self, database, begin, end, found):
        wanted, have = self.by_name(database, begin, end, found, "1")
        return {name: count for name, count in wanted.items() if name in have}, {name: have[name] for name in wanted if name in have}

    def reference_steps(self, database, begin, end, found):
        return (sorted(database.execute(f"select step, start_ns, duration_ns from steps where start_ns >= {begin} and "
                                 f"start_ns + duration_ns <= {end} order by thread, step").fetchall()),
                sorted((row["step"], row["start_ns"], row["duration_ns"]) for row in found[0]["rows"]))

    def reference_threads(self, database, begin, end, found):
        (count,), = database.execute(f"select count(*) from ranges where start_ns >= {begin} and start_ns < {end}").fetchall()
        return count, sum(row["ranges"] for row in found[0]["rows"])

    def reference_marks(self, database, begin, end, found):
        return (dict(database.execute(f"select name, count(*) from marks where time_ns >= {begin} and time_ns < {end} group by name")),
                {row["mark"]: row["count"] for row in found[0]["rows"]})

    def reference_counters(self, database, begin, end, found):
        wanted = dict(database.execute(f"select name, count(*) from counters where time_ns >= {begin} and time_ns < {end} group by name"))
        return wanted, {row["counter"]: row["samples"] + (row["nan"] or 0) for row in found[0]["rows"] if row["row"] == row["counter"]}

    def reference_async(self, database, begin, end, found):
        return (dict(database.execute(f"select name, count(*) from async_ranges where start_ns >= {begin} and start_ns < {end} group by name")),
                {row["name"]: row["calls"] for row in found[0]["rows"]})

    def reference_memory(self, database, begin, end, found):
        (count,), = database.execute(f"select count(*) from allocations where time_ns >= {begin} and time_ns < {end} and kind like 'alloc%'").fetchall()
        return count, sum(row["allocations"] for row in found[0]["rows"])

    def reference_flops(self, database, begin, end, found):
        wanted, _ = self.by_name(database, begin, end, [{"rows": []}], "category = 'operator'")
        have = collections.Counter()
        for table in found:
            for row in table["rows"]:
                have[row["name"]] += row["calls"]
        return {name: wanted.get(name) for name in have}, dict(have)

    def reference_kernels(self, database, begin, end, found):
        (count,), = database.execute(f"select count(*) from device_events where call_start_ns >= {begin} and call_start_ns < {end}").fetchall()
        return count, sum(row["calls"] for table in found for row in table["rows"] if "short_name" in row)

    def reference_dataloader(self, database, begin, end, found):
        wanted, have = self.by_name(database, begin, end, found, "category = 'data'")
        return {name: wanted.get(name) for name in have}, have

    def reference_layers(self, database, begin, end, found):
        (count,), = database.execute(f"select count(*) from ranges where category = 'layer' and start_ns >= {begin} and start_ns < {end}").fetchall()
        return count, sum(row["calls"] for row in found[0]["rows"] if row["kind"] == "layer")

    def reference_flows(self, database, begin, end, found):
        return (dict(database.execute(f"select name, count(*) from flows where direction = 'out' and time_ns >= {begin} and time_ns < {end} group by name")),
                {row["flow"]: row["out"] for row in found[0]["rows"] if row["out"]})

    def test_merged_threads(self):
        for trace in TRACES:
            if (trace, "threads") not in self.unfiltered:
                continue
            single, merged = self.unfiltered[trace, "threads"][0], self.view(trace, "threads", "--merge-threads")[0]
            for column in ("records", "ranges", "busy_ns", "lost", "threads"):
                self.assertEqual(sum(row[column] for row in single["rows"]), sum(row[column] for row in merged["rows"]))
            self.assertEqual(len({(row["pid"], row["thread"].split(" [")[0]) for row in single["rows"]}), len(merged["rows"]), trace)

    def test_bad_times(self):
        for option, value in (("--time", "1..2"), ("--time", "2s..1s"), ("--time", "x"), ("--time", "1s"),
                              ("--time", "1s..2s3"), ("--min-duration", "5"), ("--min-duration", "fast"), ("--time", "9000s..")):
            done = attempt("report", self.traces["train"], "--view", "operators", option, value)
            self.assertIn(done.returncode, (1, 2), (option, value))
            self.assertRegex(done.stderr, "1.5|after the begin|nothing begins")


if __name__ == "__main__":
    selected = sys.argv[3:]
    suite = unittest.TestSuite(test for test in unittest.defaultTestLoader.loadTestsFromTestCase(Filters)
                               if not selected or any(part in test.id() for part in selected))
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    failed = len({test.id() for test, _ in result.failures + result.errors})
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
