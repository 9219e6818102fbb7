"""Traces of every version of the format are read, and say what they said when they were kept.

usage: read.py [--update] DWELL LAYOUT_H         last line: N passed, N failed

Each NAME.dwell.xz beside this file, unpacked, begins with the version of its format; NAME.json has what
reports must show of it: of some views the columns below. LAYOUT_H is the header with the version
that is written now, of which there must be a trace. A newer minor version is read, a newer
major one refused.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import unpacked

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION_AT = 8  # bytes into the file: major and minor, u16 each
VIEWS = {
    "operators": ("name", "calls", "total_ns", "self_ns"),
    "steps": ("step", "thread", "start_ns", "duration_ns", "cpu_ns"),
    "phases": ("phase", "where", "total_ns"),
    "tree": ("name", "depth", "calls", "total_ns", "self_ns"),
    "threads": ("thread", "pid", "records", "ranges", "busy_ns"),
    "device": ("part", "device", "ns"),
    "kernels": ("family", "calls", "total_ns"),
    "streams": ("device", "stream", "events", "busy_ns", "overlap_ns"),
}
# Columns that only traces with work of devices have.
DEVICE_VIEWS = {
    "operators": ("name", "device_ns", "device_total_ns", "device_events"),
    "layers": ("path", "device_ns", "backward_device_ns", "device_events"),
    "phases": ("phase", "where", "device_ns", "device_events"),
    "steps": ("step", "device_ns", "device_events"),
}
counts = {True: 0, False: 0}


def check(what, good, found=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {found}"))


def dwell(*arguments):
    return subprocess.run([DWELL, *arguments], capture_output=True, text=True, check=False)


def figures(trace):
    """What reports show of a trace; a view that it has nothing for is left out."""
    shown = {}
    for what, view, columns in [*((view, view, columns) for view, columns in VIEWS.items()),
                                *((f"{view}, device", view, columns) for view, columns in DEVICE_VIEWS.items())]:
        done = dwell("report", trace, "--view", view, "--limit", "all", "--format", "json")
        if done.returncode:
            continue
        answer = json.loads(done.stdout)["views"][0]
        names = [column["name"] for column in answer["columns"]]
        if "device" in what and not set(columns) <= set(names):
            continue
        places = [names.index(name) for name in columns]
        shown[what] = [[row[place] for place in places] for row in answer["rows"]]
        shown["lost"] = {loss["cause"]: loss["records"] for loss in answer["losses"]}
    return shown


def versions(trace):
    with open(trace, "rb") as file:
        return struct.unpack_from("<HH", file.read(VERSION_AT + 4), VERSION_AT)


def written_now(layout):
    """The version that this dwell writes."""
    with open(layout, encoding="utf-8") as file:
        text = file.read()
    return tuple(int(re.search(rf"#define DW_VERSION_{part}\s+(\d+)", text).group(1)) for part in ("MAJOR", "MINOR"))


def check_newer(trace, folder):
    """The same bytes under newer versions."""
    major, minor = versions(trace)
    for what, version, read in (("a newer minor version is read", (major, minor + 1), True),
                                ("a newer major version is refused", (major + 1, 0), False)):
        newer = os.path.join(folder, "newer.dwell")
        shutil.copyfile(trace, newer)
        with open(newer, "r+b") as file:
            file.seek(VERSION_AT)
            file.write(struct.pack("<HH", *version))
        done = dwell("report", newer)
        good = (figures(newer) == figures(trace) if read else
                done.returncode == 1 and f"{version[0]}.{version[1]}" in done.stderr)
        check(what, good, done.stdout + done.stderr)


def main():
    folder = unpacked.folder(DWELL)
    names = sorted(name[:-6] for name in os.listdir(folder) if name.endswith(".dwell"))
    kept = set()
    for name in names:
        trace, expected = os.path.join(folder, name + ".dwell"), os.path.join(HERE, name + ".json")
        kept.add(versions(trace))
        check(f"{name}: its name has its version", name.startswith("%d.%d-" % versions(trace)), versions(trace))
        found = figures(trace)
        if UPDATE:
            with open(expected, "w", encoding="utf-8") as file:
                json.dump(found, file, indent=0)
                file.write("\n")
            continue
        with open(expected, encoding="utf-8") as file:
            wanted = json.load(file)
        for part in sorted(found | wanted):
            check(f"{name}: {part}", found.get(part) == wanted.get(part), found.get(part))
    check("the version that is written now is among them", written_now(LAYOUT) in kept, kept)
    with tempfile.TemporaryDirectory() as scratch:
        check_newer(os.path.join(folder, names[-1] + ".dwell"), scratch)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    UPDATE = sys.argv[1] == "--update"
    DWELL, LAYOUT = map(os.path.abspath, sys.argv[-2:])
    sys.exit(main())
