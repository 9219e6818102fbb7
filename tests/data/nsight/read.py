"""Real exports of Nsight Systems (see ../README.md) against their own tables, read with SQL.

usage: read.py DWELL
"""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import unpacked  # noqa: E402


def report(dwell, view, part, path):
    """The rows of a part of a view, as dictionaries."""
    text = subprocess.run([dwell, "report", "--view", view, "--format", "json", path], check=True,
                          capture_output=True, text=True).stdout
    found = next(view for view in json.loads(text)["views"] if view["part"] == part)
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row)) for row in found["rows"]]


def check(dwell, path):
    def ask(query):
        return database.execute(query).fetchall()

    database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    wanted = {name: (count, total) for name, count, total in ask(
        "SELECT s.value, count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k "
        "JOIN StringIds s ON s.id = k.demangledName GROUP BY 1")}
    copies = ask("SELECT count(*), sum(end - start), sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY")[0]
    rows = report(dwell, "kernels", "names", path)
    found = {row["name"]: (row["calls"], row["total_ns"]) for row in rows if row["class"] != "copy"}
    assert found == wanted, f"{path.name}: kernels {found} != {wanted}"
    found = tuple(sum(row[what] for row in rows if row["class"] == "copy")
                  for what in ("calls", "total_ns", "bytes"))
    assert found == copies, f"{path.name}: copies {found} != {copies}"
    print(f"{path.name}: {sum(count for count, _ in wanted.values())} kernels of {len(wanted)} names and "
          f"{copies[0]} copies are as in the file")


def main():
    files = sorted((pathlib.Path(unpacked.folder(sys.argv[1])) / "nsight").glob("*.sqlite"))
    assert len(files) >= 2
    for path in files:
        check(sys.argv[1], path)


main()
