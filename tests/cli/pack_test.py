#!/usr/bin/env python3
"""dwell pack, dwell unpack and dwell run --pack: every report of a stored trace is that of the trace.

usage: pack_test.py MKTRACE DWELL RANGES OUTLIVE [SANITIZER]

Traces: those of tests/data and of tests/golden/views, and recorded ones: whole, with losses, killed. A stored trace has
the trace's name, in another folder, so that reports may be compared byte for byte. The last line is
"N passed, N failed, N skipped", which counts checks.
"""
import filecmp
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

MKTRACE, DWELL, RANGES, OUTLIVE = (os.path.abspath(path) for path in sys.argv[1:5])
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SANITIZED = sys.argv[5:] not in ([], ["none"])  # each program takes three times as long, and more memory
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, value, text=""):
    counts["passed" if value else "failed"] += 1
    if not value:
        print(f"FAILED {what}: {text}")


def dwell(*arguments, cwd=None):
    done = subprocess.run([DWELL, *arguments], capture_output=True, cwd=cwd, timeout=600, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def views():
    names = re.findall(r"^  (\w+) ", dwell("report", "--help")[1].decode().split("--view NAME:")[1].split("\n\n")[0], re.M)
    return [word for name in names for word in ("--view", name)]


ALL_VIEWS = views()
LOOKS = [["report", *ALL_VIEWS], ["info", "--texts"], ["export", "-f", "chrome"], ["report", "--summary", "--format", "json"]]


def same_reports(what, name, looks):
    for look in looks:
        before, after = (dwell(*look, name, cwd=folder) for folder in ("plain", "stored"))
        check(f"{what}: {look[0]} {look[-1]}", before == after, after[2])


def compare(what, path, looks):
    """Stores a trace, compares reports, and makes the trace of it again."""
    name = os.path.basename(path)
    if dwell("unpack", path, "-o", "plain/" + name)[0]:  # it is no stored form
        shutil.copy(path, "plain/" + name)
    path = "plain/" + name
    code, _, text = dwell("pack", path, "-o", "stored/" + name)
    check(what + ": pack", code == 0, text)
    if code:
        return
    same_reports(what, name, looks)
    code, _, text = dwell("unpack", "stored/" + name, "-o", "again.dwell")
    check(what + ": unpack", code == 0 and filecmp.cmp(path, "again.dwell", shallow=False), text)


def kept_traces():
    paths = sorted(path for path in glob.glob(os.path.join(os.path.dirname(DWELL), "tests", "data", "**", "*.dwell"), recursive=True)
                   if os.path.basename(os.path.dirname(path)) != "gpu")
    check("kept traces are there", len(paths) >= 3, paths)
    for path in paths:
        compare(os.path.relpath(path, TESTS), path, LOOKS)


def made_traces():
    for path in sorted(glob.glob(os.path.join(TESTS, "golden", "views", "*.txt")))[::4 if SANITIZED else 1]:
        trace = os.path.basename(path)[:-4] + ".dwell"
        if subprocess.run([MKTRACE, path, trace], capture_output=True, check=False).returncode == 0:
            compare(trace, trace, LOOKS[:1])


def recorded_traces():
    ranges = 100000 if SANITIZED else 300000
    dwell("run", "-o", "whole.dwell", RANGES, str(ranges))
    compare("whole", "whole.dwell", LOOKS)
    size, stored = os.path.getsize("whole.dwell"), os.path.getsize("stored/whole.dwell")
    check("a range in less than 2.5 bytes", stored < 2.5 * ranges and stored < size / 4, f"{stored} of {size}")
    dwell("run", "--max-size", "12M", "-o", "lossy.dwell", RANGES, "3000000")
    check("the trace has losses", re.search(rb"^ +Lost: [1-9]", dwell("report", "lossy.dwell")[1], re.M), "lossy.dwell")
    compare("losses", "lossy.dwell", LOOKS[:1] if SANITIZED else LOOKS)
    dwell("run", "-o", "killed.dwell", RANGES, "60000", "kill")
    compare("killed", "killed.dwell", LOOKS)
    check("rights", os.stat("stored/killed.dwell").st_mode & 0o777 == os.stat("killed.dwell").st_mode & 0o777)


def in_place():
    shutil.copy("whole.dwell", "here.dwell")
    os.symlink("here.dwell", "link.dwell")
    code, _, text = dwell("pack", "link.dwell")
    check("in place, by a link", code == 0 and os.path.islink("link.dwell") and
          os.path.getsize("here.dwell") < os.path.getsize("whole.dwell") / 4, text)
    dwell("run", "-o", "newer.dwell", RANGES, "30")
    dwell("pack", "killed.dwell")
    check("the newest trace stays the newest", "newer.dwell is the newest" in dwell("report")[2])
    check("import", "is a trace of dwell already" in dwell("import", "here.dwell", "-o", "x.dwell")[2])
    check("stored already", "stored already" in dwell("pack", "here.dwell")[2])
    code, _, text = dwell("unpack", "here.dwell")
    check("unpacked in place", code == 0 and filecmp.cmp("here.dwell", "whole.dwell", shallow=False), text)
    check("no stored trace", "no stored trace" in dwell("unpack", "here.dwell")[2])
    code, _, text = dwell("run", "--pack", "-o", "run.dwell", RANGES, "30000")
    with open("run.dwell", "rb") as file:
        check("run --pack", code == 0 and file.read(6) == b"\x89DWPAK" and " are stored in " in text, text)
    check("run --pack: report", b"30,000" in dwell("report", "--view", "actions", "run.dwell")[1] or
          b"10,000" in dwell("report", "run.dwell")[1])
    code, _, text = dwell("run", "-o", "run.dwell", RANGES, "30")
    check("a stored trace is replaced", code == 0 and "recorded to" in text, text)


def alive():
    code, _, text = dwell("run", "--pack", "-o", "alive.dwell", OUTLIVE, "4000")
    check("a child is alive", "still being written" in text, text)
    with open("alive.dwell", "rb") as file:
        check("a child is alive: the trace stays", file.read(6) == b"\x89DWELL")
    time.sleep(5)
    check("when it has ended", dwell("pack", "alive.dwell")[0] == 0)


def damaged():
    """Bytes that are missing, changed or too many."""
    with open("stored/whole.dwell", "rb") as file:
        whole = file.read()
    head = int.from_bytes(whole[512 + 12:512 + 16], "little")
    check("a block that is almost empty takes little", head < 2_000, str(head))

    def report(name, data):
        with open(name, "wb") as file:
            file.write(data)
        return dwell("report", "--view", "actions", name)

    for part in (2, 3):
        code, out, text = report("cut.dwell", whole[:len(whole) * (part - 1) // part])
        check(f"cut at {part - 1}/{part}", code == 0 and b"compute" in out and "are missing" in text, text)
    code, _, text = report("head.dwell", whole[:300])
    check("cut in the head", code == 1 and "ends at byte 300" in text, text)
    changed = bytearray(whole)
    part = 512
    for _ in range(2):
        part += 88 + int.from_bytes(whole[part + 12:part + 16], "little")
    changed[part + 88 + 5] ^= 1
    code, _, text = report("changed.dwell", bytes(changed))
    check("a changed byte", code == 0 and re.search(r"changed.dwell: 1 stored block is damaged .*at byte \d+", text), text)
    code, _, text = dwell("unpack", "changed.dwell")
    check("damage is not unpacked over it", code == 1 and "not replaced" in text, text)
    code, _, text = report("appended.dwell", whole + b"x" * 100)
    check("appended bytes", code == 0 and "100 bytes after the trace's end" in text, text)
    changed = bytearray(whole)
    changed[448] += 1
    code, _, text = report("newer.dwell", bytes(changed))
    check("a newer version", code == 1 and "use a newer dwell" in text, text)
    code, _, text = dwell("pack", "cut.dwell", "-o", "x.dwell")
    check("a cut one is stored already", code == 1, text)
    code, _, text = dwell("pack", "nothing.dwell")
    check("no file", code == 1 and "nothing.dwell" in text, text)
    check("no operand", dwell("pack")[0] == 2)


def full():
    code, _, text = dwell("pack", "whole.dwell", "-o", "/dev/full")
    check("a full disk", code == 1 and "No space left" in text, text)
    code, _, text = dwell("pack", "whole.dwell", "-o", "missing/x.dwell")
    check("a folder that is missing", code == 1 and "missing/x.dwell" in text, text)
    check("nothing is left", not [name for name in os.listdir(".") if re.search(r"\.dwell\..{6}$", name)], os.listdir("."))


def sparse():
    """A terabyte of which nearly all are holes, with a block at half of it that makes no sense there."""
    shutil.copy("whole.dwell", "sparse.dwell")
    expected = dwell("report", "sparse.dwell")[1]
    os.truncate("sparse.dwell", 1 << 40)
    with open("sparse.dwell", "r+b") as file:
        block = file.read(2 << 16)[1 << 16:]
        begin = time.monotonic()
        check("holes", dwell("report", "sparse.dwell")[1] == expected)
        file.seek(1 << 39)
        file.write(block)
    code, report, text = dwell("report", "sparse.dwell")
    check("a block among holes", code == 0 and report == expected and "damaged" in text, text)
    check("stored", dwell("pack", "sparse.dwell")[0] == 0 and os.path.getsize("sparse.dwell") < os.path.getsize("whole.dwell"))
    check("stored: its report", dwell("report", "sparse.dwell")[1] == expected)
    check("it takes no time", time.monotonic() - begin < 20)


def memory():
    """A report of a stored trace takes less memory than the trace has bytes."""
    if SANITIZED:
        print("skip memory: sanitizers need more of it")
        counts["skipped"] += 1
        return
    dwell("run", "--max-size", "1G", "-o", "large.dwell", RANGES, "24000000")
    size = os.path.getsize("large.dwell")
    code, _, text = dwell("pack", "large.dwell")
    check("a large trace", code == 0, text)
    # A process begins with the memory of the one that started it, so a small one starts it.
    small = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); " \
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", small, DWELL, "report", "large.dwell"], capture_output=True, text=True,
                          check=False)
    check("memory", done.stdout and int(done.stdout) * 1024 < min(size, 160 << 20), f"{done} of a trace of {size} bytes")


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    os.mkdir("plain")
    os.mkdir("stored")
    for part in (kept_traces, made_traces, recorded_traces, in_place, alive, damaged, full, sparse, memory):
        part()
    os.chdir("/")
print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
sys.exit(counts["failed"] != 0)
