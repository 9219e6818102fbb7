#!/usr/bin/env python3
"""dwell.open() and `dwell export --format parquet`: frames have the rows of `dwell query`, of the views and of SQLite's export.

usage: frames_test.py BUILD [PART-OF-A-NAME...]

Needs pyarrow, pandas, polars and DuckDB (tools/venv frames). The last line is "N passed, N failed, N skipped".
"""
import collections
import contextlib
import json
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "../../python")
BUILD = os.path.abspath(sys.argv[1])
if os.environ.get("LD_LIBRARY_PATH") != BUILD:  # the loader reads it when a program starts
    os.environ.update(LD_LIBRARY_PATH=BUILD, PYTHONPATH=PACKAGE, PYTHONDONTWRITEBYTECODE="1",
                      PATH=os.path.dirname(sys.executable) + ":" + os.environ["PATH"])
    os.execv(sys.executable, [sys.executable, *sys.argv])

import duckdb  # noqa: E402
import pandas  # noqa: E402
import polars  # noqa: E402
import pyarrow  # noqa: E402
import pyarrow.parquet  # noqa: E402

import dwell  # noqa: E402

DWELL = os.path.join(BUILD, "dwell")
# Together they have rows in each table but losses, which must be there without rows, too.
TRACES = ["train", "memory", "values", "calls", "device_train", "samples", "ranks"]
TABLES = {"ranges", "marks", "counters", "allocations", "flows", "async_ranges", "steps", "samples", "device_events", "threads",
          "processes", "metadata", "losses", "run"}
OF_QUERY = ("ranges", "steps", "metadata", "losses")


def run(*command, status=0, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)
    if done.returncode != status:
        raise AssertionError(f"{command}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done


class Frames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="dwell-frames-")
        cls.path = {name: os.path.join(cls.temporary.name, name + ".dwell") for name in TRACES}
        for name, path in cls.path.items():
            run(os.path.join(BUILD, "tests/tools/mktrace"), os.path.join(HERE, "../golden/views", name + ".txt"), path)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def database(self, name, *scope):
        """The same trace as SQLite's export."""
        path = os.path.join(self.temporary.name, "trace.db")
        run(DWELL, "export", "-f", "sqlite", "-o", path, *scope, self.path[name])
        return contextlib.closing(sqlite3.connect(path))

    def ask(self, name, sql):
        return json.loads(run(DWELL, "query", "-f", "json", self.path[name], sql).stdout)["views"][0]["rows"]

    def same(self, table, database, name):
        """Every value of a pyarrow.Table is SQLite's."""
        rows = database.execute(f"select * from {name}").fetchall()
        self.assertEqual(rows, [tuple(row.values()) for row in table.to_pylist()], name)
        self.assertEqual([column[1] for column in database.execute(f"pragma table_info({name})")], table.column_names)
        return len(rows)

    def test_tables_have_all_rows(self):
        filled = set()
        for name in TRACES:
            with dwell.open(self.path[name]) as trace, self.database(name) as database:
                for table in TABLES:
                    if self.same(trace.table(table), database, table):
                        filled.add(table)
                self.assertEqual(TABLES, {row[0] for row in database.execute("select name from sqlite_master where type = 'table'")})
        self.assertEqual(TABLES - {"losses"}, filled - {"losses"})

    def test_samples_are_those_of_the_view(self):
        with dwell.open(self.path["samples"]) as trace:
            samples = trace.table("samples").to_pylist()
            hot = trace.view("hot").to_pylist()
        own = collections.Counter()
        for row in samples:
            own[row["function"]] += row["cpu_ns"]
        self.assertEqual({row["name"]: row["self_ns"] for row in hot if row["self_ns"]}, dict(own))
        for row in samples:
            self.assertTrue(row["function"] is None or row["stack"].split(";")[-1] == row["function"], row)

    def test_parquet_in_three_readers(self):
        for name in TRACES:
            folder = os.path.join(self.temporary.name, "parquet-" + name)
            run(DWELL, "export", "--format", "parquet", "-o", folder, self.path[name])
            self.assertEqual({table + ".parquet" for table in TABLES}, set(os.listdir(folder)))
            with self.database(name) as database:
                for table in sorted(TABLES):
                    path = os.path.join(folder, table + ".parquet")
                    self.same(pyarrow.parquet.read_table(path), database, table)
                    numbers = [row[1] for row in database.execute(f"pragma table_info({table})") if row[2] != "TEXT"]
                    sums = ", ".join(["count(*)", *(f'cast(coalesce(sum("{column}"), 0) as double)' for column in numbers)])
                    expected = database.execute(f"select {sums} from {table}").fetchone()
                    if table in OF_QUERY:
                        here = [i for i, column in enumerate(numbers) if table != "steps" or column not in ("tid", "pid")]
                        asked = ", ".join(["count(*)", *(f"sum({numbers[i]})" for i in here)])
                        self.assertEqual([expected[0], *(expected[1 + i] for i in here)],
                                         [value or 0 for value in self.ask(name, f"select {asked} from {table}")[0]], table)
                    self.assertEqual(expected, duckdb.sql(f"select {sums} from '{path}'").limit(1).fetchall()[0], table)
                    for frame in (pandas.read_parquet(path), polars.read_parquet(path)):
                        self.assertEqual(expected, (len(frame), *(float(frame[column].sum() or 0) for column in numbers)), table)

    def test_parquet_stores_names_once(self):
        folder = os.path.join(self.temporary.name, "names")
        run(DWELL, "export", "--format", "parquet", "-o", folder, self.path["train"])
        file = pyarrow.parquet.ParquetFile(folder + "/ranges.parquet")
        group = file.metadata.row_group(0)
        encodings = {group.column(i).path_in_schema: group.column(i).encodings for i in range(group.num_columns)}
        for name, kind in zip(file.schema_arrow.names, file.schema_arrow.types):
            self.assertIn("RLE_DICTIONARY" if kind == "string" else "DELTA_BINARY_PACKED", encodings[name], name)
        self.assertEqual({"string", "int64"}, {str(kind) for kind in file.schema_arrow.types})
        self.assertTrue(pandas.read_parquet(folder + "/ranges.parquet")["name"].str.startswith("conv2d").any())

    def test_names_in_many_parts(self):
        """More rows than a part has, of which each part has other names."""
        path, folder = (os.path.join(self.temporary.name, name) for name in ("many.dwell", "many"))
        lines = ["process 1 pid=1 name=many", "thread 1 process=1 tid=1", "stream 1 thread=1"]
        for i in range(700):
            lines += ["repeat 100", f"begin operator op{i}", "+1us end", "done"]
        run(os.path.join(BUILD, "tests/tools/mktrace"), "-", path, input="\n".join(lines) + "\n")
        run(DWELL, "export", "--format", "parquet", "-o", folder, path)
        expected = {f"op{i}": 100 for i in range(700)}
        self.assertEqual(expected, dict(duckdb.sql(f"select name, count(*) from '{folder}/ranges.parquet' group by name").fetchall()))
        self.assertEqual(expected, dict(collections.Counter(polars.read_parquet(folder + "/ranges.parquet")["name"].to_list())))

    def test_scope(self):
        folder = os.path.join(self.temporary.name, "scoped")
        run(DWELL, "export", "--format", "parquet", "-o", folder, "--steps", "1..2", self.path["train"])
        with self.database("train", "--steps", "1..2") as database, dwell.open(self.path["train"], steps=(1, 2)) as trace:
            self.same(pyarrow.parquet.read_table(folder + "/ranges.parquet"), database, "ranges")
            self.same(trace.table("ranges"), database, "ranges")
            self.assertEqual({1, 2}, set(trace.table("steps")["step"].to_pylist()))
        folder = os.path.join(self.temporary.name, "window")
        run(DWELL, "export", "--format", "parquet", "-o", folder, "--time", "0s..0.05s", self.path["train"])
        with self.database("train", "--time", "0s..0.05s") as database:
            self.same(pyarrow.parquet.read_table(folder + "/ranges.parquet"), database, "ranges")

    def test_views(self):
        for name in TRACES:
            with dwell.open(self.path[name]) as trace:
                self.assertIn("operators", trace.views())
                self.assertTrue(all(question.endswith("?") for question in trace.views().values()))
                for view in trace.views():
                    try:
                        expected = dwell.View(self.path[name], view).rows()
                    except dwell.Error as error:
                        with self.assertRaisesRegex(dwell.Error, "^.{20}"):
                            trace.view(view)
                        self.assertEqual(str(error), self.message(lambda: trace.view(view)))
                        continue
                    found = trace.view(view).to_pylist()
                    self.assertEqual(len(expected), len(found), view)
                    for left, right in zip(expected, found):
                        for column, value in left.items():
                            if isinstance(value, float) or isinstance(right[column], float):
                                self.assertTrue(right[column] == value or math.isclose(right[column], value, rel_tol=1e-6), (view, column))
                            elif isinstance(right[column], str):
                                self.assertEqual(str(value), right[column], (view, column))
                            else:
                                self.assertEqual(value, right[column], (view, column))

    def message(self, call):
        with self.assertRaises(dwell.Error) as caught:
            call()
        return str(caught.exception)

    def test_queries(self):
        sql = "select name, count(*) as calls, sum(self_ns) as ns, count(*) / 2.0 as half, null as nil from ranges group by name"
        with dwell.open(self.path["train"]) as trace:
            table = trace.query(sql)
            self.assertEqual(self.ask("train", sql), [list(row.values()) for row in table.to_pylist()])
            self.assertEqual(["string", "int64", "int64", "double", "string"], [str(kind) for kind in table.schema.types])
            total = sum(table["ns"].to_pylist())
            frame = trace.query(sql, to="pandas")
            self.assertIsInstance(frame, pandas.DataFrame)
            self.assertEqual(total, frame["ns"].sum())
            frame = trace.query(sql, to="polars")
            self.assertIsInstance(frame, polars.DataFrame)
            self.assertEqual(total, frame["ns"].sum())
            steps = trace.table("ranges", to="pandas")["step"]  # null outside steps, and whole inside
            self.assertEqual("int64[pyarrow]", str(steps.dtype))
            self.assertIn("ranges", trace.query(".schema")["table"].to_pylist())
            self.assertEqual(["1", "x", "2.5", None], trace.query("select 1 as a union all select 'x' union all select 2.5 "
                                                                  "union all select null")["a"].to_pylist())
            self.assertEqual(["a\ufffdb\u00e9"], trace.query("select cast(x'61ff62c3a9' as text) as a")["a"].to_pylist())
            self.assertEqual(0, trace.query("select * from ranges where name = 'nothing'").num_rows)
            numbers = "with recursive n(i) as (select 1 union all select i + 1 from n limit {}) select i from n"
            with self.assertWarnsRegex(UserWarning, "Only the first 1000000 rows"):
                self.assertEqual(1000000, trace.query(numbers.format(1000001)).num_rows)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.assertEqual(1000, trace.query(numbers.format(1000)).num_rows)
            with self.assertRaisesRegex(dwell.Error, "takes too long"):
                trace.query(numbers.format(10**9).replace("select i from n", "select sum(i) from n"), seconds=0.1)
        self.assertEqual((0,), sqlite3.connect(":memory:").execute("pragma hard_heap_limit").fetchone())
        self.assertEqual((0,), sqlite3.connect(":memory:").execute("pragma soft_heap_limit").fetchone())
        self.assertEqual(total, sum(table["ns"].to_pylist()))  # the trace is closed

    def test_mistakes(self):
        with dwell.open(self.path["train"]) as trace:
            self.assertIn("character 1:", self.message(lambda: trace.query("selct 1")))
            self.assertIn("did you mean 'operators'", self.message(lambda: trace.view("operatrs")))
            self.assertIn("did you mean 'ranges'", self.message(lambda: trace.table("range")))
            self.assertRaisesRegex(ValueError, "give 'arrow'", trace.table, "steps", to="csv")
            self.assertRaisesRegex(TypeError, "give a text", trace.query, 1)
        self.assertRaisesRegex(ValueError, "the trace is closed", trace.table, "steps")
        self.assertIn("missing.dwell", self.message(lambda: dwell.open("missing.dwell")))
        self.assertIn("9999", self.message(lambda: dwell.open(self.path["train"], steps=(9999, 10000))))
        names = {}
        exec("from dwell import *", names)  # pylint: disable=exec-used
        self.assertNotIn("open", names)

    def test_mistakes_of_the_command(self):
        export = [DWELL, "export", "--format", "parquet"]
        folder = os.path.join(self.temporary.name, "wrong")
        self.assertIn("-o FOLDER", run(*export, self.path["train"], status=2).stderr)
        self.assertIn("--min-duration", run(*export, "-o", folder, "--min-duration", "1us", self.path["train"], status=2).stderr)
        self.assertIn("missing.dwell", run(*export, "-o", folder, "missing.dwell", status=1).stderr)
        self.assertFalse(os.path.exists(folder))
        self.assertIn(self.path["memory"], run(*export, "-o", self.path["memory"], self.path["train"], status=1).stderr)
        with tempfile.TemporaryDirectory() as without:
            with open(os.path.join(without, "pyarrow.py"), "w", encoding="utf-8") as file:
                file.write("raise ImportError('No module named pyarrow')")
            said = run(*export, "-o", folder, self.path["train"], status=1, env={**os.environ, "PYTHONPATH": f"{without}:{PACKAGE}"}).stderr
            self.assertIn("-m pip install pyarrow", said)
            self.assertEqual(1, said.count("\n"), said)
            said = run(*export, "-o", folder, self.path["train"], status=1, env={**os.environ, "PATH": without}).stderr
            self.assertIn("pip install pyarrow", said)
        self.assertIn("to_parquet", self.message(lambda: dwell._native.open_trace(self.path["train"]).export(b"parquet", folder)))

    def test_what_fails_leaves_the_files_that_were_there(self):
        folder = os.path.join(self.temporary.name, "again")
        with dwell.open(self.path["train"]) as trace:
            paths = trace.to_parquet(folder)
            before = {path: os.stat(path).st_ino for path in paths}
            with unittest.mock.patch.object(pyarrow.parquet.ParquetWriter, "write_table", side_effect=OSError("no space")):
                self.assertRaisesRegex(OSError, "no space", trace.to_parquet, folder)
        self.assertEqual(before, {os.path.join(folder, name): os.stat(os.path.join(folder, name)).st_ino for name in os.listdir(folder)})

    def test_columns_are_not_copied(self):
        before = pyarrow.total_allocated_bytes()
        with dwell.open(self.path["train"]) as trace:
            table = trace.table("ranges")
        self.assertGreater(table.nbytes, 1000)
        self.assertEqual(before, pyarrow.total_allocated_bytes())


if __name__ == "__main__":
    loaded = unittest.TestSuite(test for test in unittest.defaultTestLoader.loadTestsFromTestCase(Frames)
                                if not sys.argv[2:] or any(part in test.id() for part in sys.argv[2:]))
    result = unittest.TextTestRunner(verbosity=1).run(loaded)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(1 if failed else 0)
