#!/usr/bin/env python3
"""dwell query on traces whose times are known.

usage: query_test.py DWELL MAKE_RANKS [PART-OF-A-NAME...]

The last line is "N passed, N failed, N skipped".
"""
import contextlib
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

dwell, make_ranks = (os.path.abspath(path) for path in sys.argv[1:3])
STEPS, OPERATORS = 50, 8  # of each step: half in forward, half in backward


def run(*command, status=0):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != status:
        raise AssertionError(f"{command}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done


class Query(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="dwell-query-")
        run(make_ranks, cls.temporary.name, "1", str(STEPS), "operators", str(OPERATORS))
        cls.trace = os.path.join(cls.temporary.name, "rank-0000.dwell")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def ask(self, sql):
        return json.loads(run(dwell, "query", "-f", "json", self.trace, sql).stdout)["views"][0]["rows"]

    def view(self, name):
        table = json.loads(run(dwell, "report", "-f", "json", "--view", name, self.trace).stdout)["views"][0]
        return [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]

    def test_ranges_are_those_of_the_views(self):
        rows = {row[0]: row[1:] for row in self.ask(
            "select name, count(*), sum(duration_ns), sum(self_ns), max(duration_ns) from ranges "
            "where category = 'operator' group by name")}
        self.assertEqual({row["name"] for row in self.view("operators")}, set(rows))
        for row in self.view("operators"):
            calls, total, self_ns, longest = rows[row["name"]]
            self.assertEqual((row["calls"], row["max_ns"]), (calls, longest))
            self.assertEqual((row["total_ns"], row["self_ns"]), (total, self_ns))

    def test_self_time_excludes_all_ranges_inside(self):
        (outer, own), = self.ask("select sum(duration_ns), sum(self_ns) from ranges where name = 'forward'")
        (inner,), = self.ask("select sum(duration_ns) from ranges where name = 'forward.kernel'")
        self.assertEqual(outer - inner, own)

    def test_conditions_narrow_the_walk_and_change_nothing(self):
        everything = self.ask("select step, name, start_ns, duration_ns from ranges")
        steps = [row[0] for row in everything]
        self.assertEqual(set(range(STEPS)), set(steps) - {None})
        for where, keep in (
                ("step = 7", lambda row: row[0] == 7),
                ("step between 7 and 9", lambda row: row[0] is not None and 7 <= row[0] <= 9),
                ("step > 44.5", lambda row: row[0] is not None and row[0] > 44.5),
                ("step = 10000", lambda row: False),
                ("step is null", lambda row: row[0] is None),
                ("name = 'backward' and step < 3", lambda row: row[1] == "backward" and row[0] is not None and row[0] < 3),
                ("name = 'nothing'", lambda row: False),
                ("start_ns >= 400000000 and start_ns < 600000000", lambda row: 400000000 <= row[2] < 600000000),
                ("start_ns > 400000000 and step = 20", lambda row: row[2] > 400000000 and row[0] == 20),
                ("tid = 1000", lambda row: True), ("tid = 77", lambda row: False)):
            found = self.ask(f"select step, name, start_ns, duration_ns from ranges where {where}")
            self.assertEqual([row for row in everything if keep(row)], found, where)

    def test_rows_by_name_need_no_sort(self):
        for condition in ("", "where step = 3", "where depth > 0 and step between 2 and 5", "where name = 'nothing'"):
            sums = "count(*), sum(duration_ns), sum(self_ns), min(start_ns), max(step)"
            self.assertEqual(self.ask(f"select +name as n, {sums} from ranges {condition} group by n order by n"),
                             self.ask(f"select name, {sums} from ranges {condition} group by name"), condition)
        names = [row[0] for row in self.ask("select distinct name from ranges order by name")]
        self.assertEqual(sorted(set(names)), names)
        self.assertEqual(names, [row[0] for row in self.ask("select name from ranges group by name")])
        plan = json.dumps(self.ask("explain query plan select name, count(*) from ranges group by name"))
        self.assertNotIn("TEMP B-TREE", plan)
        backwards = [row[0] for row in self.ask("select name from ranges where step = 3 order by name desc")]
        self.assertEqual(sorted(backwards, reverse=True), backwards)
        folded = [row[0].lower() for row in self.ask("select name from ranges where step = 3 order by name collate nocase")]
        self.assertEqual(sorted(folded), folded)
        self.assertEqual(self.ask("select name, n from (select name, count(*) as n from ranges group by name) "
                                  "join (select distinct name as other from ranges) on name = other"),
                         self.ask("select name, count(*) from ranges group by name"))

    def test_join_of_steps_and_ranges(self):
        rows = self.ask("select s.step, s.duration_ns, sum(r.self_ns) from steps s join ranges r on r.step = s.step "
                        "group by s.step")
        self.assertEqual(STEPS, len(rows))
        for _, length, covered in rows:
            self.assertLessEqual(covered, length)

    def test_a_join_with_many_steps_takes_no_memory_for_each(self):
        folder = os.path.join(self.temporary.name, "many")
        os.mkdir(folder)
        run(make_ranks, folder, "1", "2000", "operators", "8")
        trace = os.path.join(folder, "rank-0000.dwell")
        peaks = []
        for sql in ("select count(*) from ranges join steps on steps.step = 7",
                    "select count(*) from steps s join ranges a on a.step = s.step join ranges b on b.step = s.step and b.depth = 0"):
            with subprocess.Popen([dwell, "query", "--for", "5m", "-f", "csv", trace, sql], stdout=subprocess.PIPE, text=True) as asked:
                rows = int(asked.stdout.read().split()[1])
                _, status, usage = os.wait4(asked.pid, 0)
                asked.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(0, asked.returncode)
            peaks.append(usage.ru_maxrss)
        self.assertGreaterEqual(rows, 2000)
        self.assertLess(peaks[1] - peaks[0], 10000, peaks)  # KB

    def test_views_are_tables(self):
        facts = dict(self.ask("select fact, value from facts where value is not null"))
        self.assertEqual(STEPS, facts["step.count"])
        self.assertEqual([[STEPS]], self.ask("select count(*) from steps where counted"))
        self.assertEqual([], self.ask("select * from losses"))

    def test_schema(self):
        tables = dict(self.ask(".schema"))
        self.assertIn("duration_ns", tables["ranges"].split())
        self.assertIn("self_ns", tables["operators"].split())
        self.assertIn("has no", tables["kernels"])  # why, and what to record

    def test_bad_input(self):
        for sql, says in (("selct 1", "SQL, character 1:"), ("select nme from ranges", "no such column: nme"),
                          ("select 1; select 2", "one statement"), ("", "empty"), ("select * from nowhere", "no such table"),
                          ("select name from kernels", "has no"), ("attach 'x.db' as x", "too many attached"),
                          ("vacuum into 'x.db'", "too many attached"), ("select readfile('/etc/passwd')", "no such function"),
                          ("select writefile('x.db', 'x')", "no such function"),
                          ("select load_extension('x')", "not authorized"),
                          ("delete from ranges", "may not be modified")):
            self.assertIn(says, run(dwell, "query", self.trace, sql, status=2).stderr, sql)
        self.assertFalse(os.path.exists("x.db"))
        self.assertIn("missing.dwell", run(dwell, "query", "missing.dwell", "select 1", status=1).stderr)
        run(dwell, "query", status=2)

    def test_the_questions_of_the_page_are_one_query_each(self):
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../doc/reference/query.md")
        with open(page, encoding="utf-8") as file:
            questions = file.read().split("## Ten questions")[1].split("\n**")[1:]
        self.assertEqual(10, len(questions))
        for question in questions:
            self.ask("\n".join(line for line in question.splitlines() if line.startswith("    ")))

    def test_an_interrupted_query_leaves_nothing(self):
        folder = os.path.join(self.temporary.name, "interrupted")
        os.mkdir(folder)
        kept = os.path.join(folder, "kept.csv")
        with open(kept, "w", encoding="utf-8") as file:
            file.write("before")
        endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n, ranges"
        for path in kept, os.path.join(folder, "new.csv"):
            with subprocess.Popen([dwell, "query", "-f", "csv", "-o", path, self.trace, endless],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as query:  # a shell's "&" ignores it
                ticks = 0
                while ticks < 10 and query.poll() is None:  # it runs
                    time.sleep(0.01)
                    with open(f"/proc/{query.pid}/stat", encoding="utf-8") as file:
                        ticks = int(file.read().rsplit(")", 1)[1].split()[11])
                query.send_signal(signal.SIGINT)
                out, _ = query.communicate(timeout=30)
                self.assertIn(query.returncode, (-signal.SIGINT, 130))
                self.assertEqual(b"", out)
        self.assertEqual(["kept.csv"], os.listdir(folder))
        with open(kept, encoding="utf-8") as file:
            self.assertEqual("before", file.read())

    def test_a_query_without_end_ends(self):
        """By its time, or by the memory that SQLite or the answer needs."""
        n = "with recursive n(x) as (select 1 union all select x + 1 from n) "
        for sql, options, why in ((n + "select count(*) from n", ("--for", "300ms"), "takes too long"),
                                  (n + "select x, hex(zeroblob(500)) from n", (), "more than 200 MB"),
                                  ("select length(printf('%300000000c', 'x'))", (), "more than 200 MB"),
                                  (n + "select 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 from n", (), "more than 200 MB")):
            with subprocess.Popen([dwell, "query", *options, self.trace, sql], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as query:
                out, said = query.communicate(timeout=120)
                most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            self.assertEqual((2, ""), (query.returncode, out), sql)
            self.assertIn(why, said)
            self.assertLess(most, 300 << 10, sql)  # KiB: 200 MB, and what dwell itself and other commands of this test take

    def test_damaged_and_empty_traces(self):
        with open(self.trace, "rb") as file:
            content = file.read()
        damaged = os.path.join(self.temporary.name, "damaged.dwell")
        for size in len(content) - 6000, 100, 0:
            with open(damaged, "wb") as file:
                file.write(content[:size])
            done = subprocess.run([dwell, "query", damaged, "select count(*) from ranges"], capture_output=True,
                                  text=True, check=False, timeout=60)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertIn("damaged.dwell", done.stderr)
        os.unlink(damaged)

    def test_an_export_has_the_same_tables(self):
        path = os.path.join(self.temporary.name, "trace.db")
        run(dwell, "export", "--format", "sqlite", "-o", path, self.trace)
        with contextlib.closing(sqlite3.connect(path)) as database:
            for sql in ("select name, category, step, thread, tid, pid, depth, start_ns, duration_ns, self_ns, ended from ranges "
                        "order by start_ns, depth",
                        "select step, thread, start_ns, duration_ns, cpu_ns, operators, counted from steps",
                        "select pid, key, value from metadata", "select * from losses"):
                self.assertEqual([tuple(row) for row in self.ask(sql)], database.execute(sql).fetchall(), sql)
            operators = {row["name"]: (row["calls"], row["total_ns"]) for row in self.view("operators")}
            self.assertEqual(operators, {row[0]: row[1:] for row in database.execute(
                "select name, calls, total_ns from operators")})
            self.assertEqual("ok", database.execute("pragma integrity_check").fetchone()[0])
        run(dwell, "export", "--format", "sqlite", "-o", path, "--steps", "3..4", self.trace)
        with contextlib.closing(sqlite3.connect(path)) as database:
            self.assertEqual([(3,), (4,)], database.execute("select distinct step from ranges order by 1").fetchall())
        done = subprocess.run([dwell, "export", "--format", "sqlite", "-o", path, self.trace], capture_output=True, text=True,
                              check=False, env={**os.environ, "TMPDIR": "/nowhere"})
        self.assertEqual(1, done.returncode)
        self.assertIn("set TMPDIR", done.stderr)

    def test_limit_ends_early_and_formats(self):
        self.assertEqual(3, len(self.ask("select * from ranges limit 3")))
        self.assertIn("| name |", run(dwell, "query", "-f", "md", self.trace, "select name from ranges limit 1").stdout)
        self.assertEqual("a,b\n1,\n", run(dwell, "query", "-f", "csv", self.trace, "select 1 a, null b").stdout)


if __name__ == "__main__":
    selected = sys.argv[3:]
    suite = unittest.TestSuite(test for test in unittest.defaultTestLoader.loadTestsFromTestCase(Query)
                               if not selected or any(part in test.id() for part in selected))
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
