#!/usr/bin/env python3
"""dwell run --stacks: lines and inlined functions of a C program, and functions of a stripped one.

usage: lines_test.py DWELL LINES

The last line is "N passed, N failed, N skipped", which counts checks.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

DWELL, LINES = (os.path.abspath(path) for path in sys.argv[1:3])
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, value, text=""):
    counts["passed" if value else "failed"] += 1
    if not value:
        print(f"FAILED {what}: {text}")


def stacks_of(program):
    subprocess.run([DWELL, "run", "--stacks", "-o", "lines.dwell", "--", program], check=True, capture_output=True,
                   timeout=120)
    folded = subprocess.run([DWELL, "export", "--format", "folded", "--metric", "self_cpu_time_total", "lines.dwell"],
                            capture_output=True, text=True, timeout=120, check=False)
    return folded.stdout, folded.stderr


def check_apart():
    """A stripped program whose debug information lies next to it, in .debug, or nowhere."""
    shutil.copy(LINES, "apart")
    subprocess.run(["objcopy", "--only-keep-debug", "apart", "apart.debug"], check=True)
    subprocess.run(["objcopy", "--strip-all", "--add-gnu-debuglink=apart.debug", "apart"], check=True)
    for folder in (".", ".debug"):
        os.makedirs(folder, exist_ok=True)
        if folder != ".":
            os.rename("apart.debug", os.path.join(folder, "apart.debug"))
        stacks, text = stacks_of("./apart")
        check(f"lines and names, debug information in {folder}",
              re.search(r"lines\.c\(2\d\):_main;[^;]*lines\.c\(13\):_outer;[^;]*lines\.c\(6\):_inner", stacks), stacks + text)
    os.remove(".debug/apart.debug")
    stacks, text = stacks_of("./apart")
    check("without it places of the file", "apart+0x" in stacks and "lines.c" not in stacks, stacks + text)


def main():
    stacks, text = stacks_of(LINES)
    check("the inlined function", re.search(r"lines\.c\(13\):_outer;[^;]*lines\.c\(6\):_inner", stacks), stacks + text)
    check("main", re.search(r"lines\.c\(2\d\):_main;", stacks), stacks + text)
    if shutil.which("strip"):
        shutil.copy(LINES, "stripped")
        subprocess.run(["strip", "stripped"], check=True)
        stacks, text = stacks_of("./stripped")
        names = set(re.findall(r"stripped\+0x[0-9a-f]+", stacks))
        check("functions of a stripped program", 1 <= len(names) <= 4, stacks + text)
    else:
        print("skip the stripped program: there is no strip")
        counts["skipped"] += 1
    if shutil.which("objcopy"):
        check_apart()
    else:
        print("skip debug information apart: there is no objcopy")
        counts["skipped"] += 1
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return counts["failed"] != 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["LD_LIBRARY_PATH"] = os.path.dirname(DWELL)
        sys.exit(main())
