"""Damaged planes of GPUs and TPUs: what can be read is shown, what cannot is counted, with its place.

usage: damaged.py DWELL        last line: N passed, N failed

The planes are written here, field by field, so that each damage is at a known byte.
"""
import csv
import io
import os
import subprocess
import sys
import tempfile

counts = {True: 0, False: 0}


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def event(name, start_us, length_us, *stats):
    return field(1, name) + field(2, start_us * 10**6) + field(3, length_us * 10**6) + \
        b"".join(field(4, stat) for stat in stats)


def line(number, name, *events):
    return field(3, field(1, number) + field(2, name) + field(3, 1000) + b"".join(field(4, one) for one in events))


def name_of(kind, number, name):
    return field(kind, field(1, number) + field(2, field(1, number) + field(2, name)))


def plane(name, *lines):
    names = name_of(4, 1, "gemm") + name_of(4, 2, "7") + name_of(4, 3, "eight")
    stats = name_of(5, 1, "correlation_id") + name_of(5, 2, "kernel_details") + name_of(5, 3, "memcpy_details")
    return field(1, field(2, name) + b"".join(lines) + names + stats)


def report(content, view="kernels"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.xplane.pb")
        with open(path, "wb") as file:
            file.write(content)
        done = subprocess.run([dwell, "report", "--view", view, "--format", "csv", path], capture_output=True,
                              text=True, check=False)
    return done.returncode, done.stdout, done.stderr.replace(path, "x")


def kernels(output):
    """{name: (calls, ns)} of the table of names."""
    tables = output.split("\n\n")
    return {row["short_name"]: (int(row["calls"]), int(row["total_ns"])) for table in tables
            for row in csv.DictReader(io.StringIO(table)) if row.get("short_name")}


def check(what, found, wanted):
    counts[found == wanted] += 1
    if found != wanted:
        print(f"FAILED {what}: {found} is not {wanted}")


GOOD = event(1, 2, 5)
PARTS = "have parts that make no sense and are left out (the first at byte"


def compare(what, planes, wanted, damaged, at=None):
    """`damaged` events are counted, the first at the bytes `at`."""
    code, output, error = report(planes)
    what_is_lost = f"{damaged} events or lines {PARTS} {planes.index(at) if at else 0})"
    note = f"dwell: x: {what_is_lost}\ndwell: lost: {damaged} records: {what_is_lost}\n" if damaged else ""
    check(what, (code, kernels(output), error), (0, wanted, note))


def main():
    gpu, tpu = "/device:GPU:0", "/device:TPU:0"
    both = {"gemm": (2, 10000)}
    one = {"gemm": (1, 5000)}
    for name in gpu, tpu:
        compare(f"{name} sound", plane(name, line(7, "Stream #7", GOOD, event(1, 9, 5))), both, 0)
        cut = event(1, 9, 5)[:-1] + b"\xff"
        compare(f"{name}: an event that ends within a number", plane(name, line(7, "Stream #7", GOOD, cut)), one, 1, cut)
        late = field(1, 1) + field(2, 2**64 - 1) + field(3, 5)
        compare(f"{name}: a negative time", plane(name, line(7, "Stream #7", GOOD, late)), one, 1, late)
        far = field(1, 1) + field(2, 5) + field(3, 2**63)
        compare(f"{name}: a negative duration, twice", plane(name, line(7, "Stream #7", far, GOOD, far)), one, 2, far)
        lost = event(99, 9, 5)
        compare(f"{name}: an event without a name", plane(name, line(7, "Stream #7", GOOD, lost)),
                {"gemm": (1, 5000), "(unknown)": (1, 5000)}, 1, lost)
        for stat in (field(1, 1) + b"\x1a", field(1, 2) + b"\x2a\x7fgrid:1", b"\x07\x07"):
            odd = event(1, 9, 5, stat)
            compare(f"{name}: a damaged stat", plane(name, line(7, "Stream #7", GOOD, odd)), both, 1, odd)
        for stat in (field(1, 2) + field(5, "grid:x,1,1 block:-1,1,1 regs:q"), field(1, 2) + field(3, 7),
                     field(1, 1) + field(3, 2**64 - 1), field(1, 1) + field(5, "seven"), field(1, 77) + field(3, 1)):
            compare(f"{name}: a stat with an odd value", plane(name, line(7, "Stream #7", GOOD, event(1, 9, 5, stat))), both, 0)
        short = plane(name, line(7, "Stream #7", GOOD) + field(3, field(1, 8) + field(4, GOOD) + b"\x22\x7f"))
        code, output, error = report(short)
        check(f"{name}: a line that ends within an event", (code, kernels(output), f"1 events or lines {PARTS}" in error),
              (0, both, True))
        whole = plane(name, line(7, "Stream #7", GOOD))
        for size in range(len(whole) // 4, len(whole), len(whole) // 4):
            code, output, error = report(whole[:size])
            check(f"{name} cut at {size}", (code, output, error.split(";")[0]),
                  (1, "", f"dwell: x is a damaged XSpace: byte 0 of {size} begins what ends beyond it, or makes no sense"))
    for name in ("/device:GPU:", "/device:GPU:x", "/device:GPU:99999999999999999999"):
        compare(f"{name}", plane(name, line(7, "Stream #99999999999999999999999(", GOOD)), one, 0)
    steps = plane(tpu, line(1, "Steps", event(2, 0, 9), event(3, 9, 9)), line(3, "XLA Ops", GOOD))
    code, output, error = report(steps, "steps")
    check("a step whose name is no number", (code, [row["step"] for row in csv.DictReader(io.StringIO(output))]),
          (0, ["7"]))
    check("it is a range", "\neight,1," in report(steps, "tree")[1], True)
    print(f"{counts[True]} passed, {counts[False]} failed")
    sys.exit(counts[False] > 0)


dwell = sys.argv[1]
main()
