"""A real profile of ONNX Runtime (see ../README.md) against its own JSON, and a cut one.

usage: read.py DWELL
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile


def report(dwell, view, path):
    run = subprocess.run([dwell, "report", "--view", view, "--format", "json", path], check=True,
                         capture_output=True, text=True)
    found = json.loads(run.stdout)["views"][0]
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row)) for row in found["rows"]], run.stdout + run.stderr


def main():
    dwell, path = sys.argv[1], next(pathlib.Path(__file__).parent.glob("*.json.gz"))
    events = json.loads(gzip.decompress(path.read_bytes()))
    wanted = collections.defaultdict(lambda: [0, 0])
    for event in events:
        if event["cat"] == "Node":
            wanted[event["args"]["op_name"]][0] += 1
            wanted[event["args"]["op_name"]][1] += event["dur"] * 1000
    rows, text = report(dwell, "operators", path)
    found = {row["name"]: [row["calls"], row["total_ns"]] for row in rows}
    assert found == wanted, f"{found} != {dict(wanted)}"
    assert "was cut" not in text, text
    runs = [event for event in events if event["name"] == "model_run"]
    rows, _ = report(dwell, "steps", path)
    assert len(rows) == len(runs), f"{len(rows)} steps, {len(runs)} runs"
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        # The profiler stores nothing beyond its limit, and ends the list as usual.
        file.write(json.dumps(events[:-3]))
        file.flush()
        _, text = report(dwell, "operators", file.name)
    assert f"the profile was cut at {len(events) - 3} events" in text, text
    print(f"{path.name}: {len(events)} events: {len(found)} operators and {len(runs)} runs are as in the file")


main()
