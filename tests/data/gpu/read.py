"""What dwell says of real runs on a GPU (see ../README.md), against the planted cause and sums of the events.

usage: read.py DWELL
"""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import unpacked  # noqa: E402

# by trace: the rule of the first sentence, and between which limits the busy part of the device's step must be
PLANTED = {"compute": ("device-compute", 0.97, 1), "sync": ("device-sync", 0.2, 0.75), "sync-bursts": ("device-sync", 0.2, 0.75),
           "pageable": ("device-pageable", 0.5, 0.95), "loader": ("loader-in-process", 0, 0.05)}
# None of these programs has them: each frees its gradients in each step, and their operators only launch work.
FALSE = {"memory-owners", "thread-count", "slow-steps", "allocator", "precision", "half-precision", "one-operator", "compute"}


def report(dwell, view, path):
    """The rows of a view's first table, as dictionaries."""
    text = subprocess.run([dwell, "report", "--view", view, "-n", "all", "--format", "json", path], check=True,
                          capture_output=True, text=True).stdout
    table = json.loads(text)["views"][0]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def check(dwell, path, folder):
    rule, least, most = PLANTED[path.stem]
    first, *more = report(dwell, "verdict", path)
    assert not FALSE & {row["rule"] for row in [first, *more]}, f"{path.name}: {more}"
    overview = subprocess.run([dwell, "report", path], check=True, capture_output=True, text=True).stdout
    assert "not recorded" not in overview, overview
    facts = {row["fact"]: row["value"] for row in report(dwell, "facts", path)}
    assert first["rule"] == rule, f"{path.name}: the first sentence is of {first['rule']}: {first['statement']}"
    assert least <= facts["device.busy"] <= most, f"{path.name}: busy for {facts['device.busy']}"
    place = os.path.join(folder, f"{path.stem}.sqlite")
    subprocess.run([dwell, "export", "--format", "sqlite", "-o", place, path], check=True, capture_output=True)
    database = sqlite3.connect(place)
    begin, = database.execute("SELECT min(start_ns) FROM steps").fetchone()
    count, = database.execute("SELECT count(*) FROM steps").fetchone()
    end, work = database.execute("SELECT max(start_ns + duration_ns), sum(duration_ns) FROM device_events "
                                 "WHERE kind = 'kernel' AND start_ns >= ?", (begin,)).fetchone()
    print(f"{path.name}: {count} steps, {facts['device.step'] / 1e6:.2f} ms each on the device, busy for {facts['device.busy']:.0%}; "
          f"kernels {work / 1e6:.0f} ms of {(end - begin) / 1e6:.0f} ms")
    return facts, work, count


def main():
    dwell = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        found = {path.stem: check(dwell, path, folder) for path in sorted((pathlib.Path(unpacked.folder(dwell)) / "gpu").glob("*.dwell"))
                 if path.stem in PLANTED}
    facts, work, count = found["compute"]
    # This program's kernels follow one another without a gap: their time in a step is the length of the device's step.
    assert abs(work / count / facts["device.step"] - 1) < 0.05, (work / count, facts["device.step"])
    assert facts["device.behind"] > 0.8, facts["device.behind"]


main()
