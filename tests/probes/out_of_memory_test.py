#!/usr/bin/env python3
"""What is said of programs whose memory runs out: one that goes on, one that ends by it, one that the kernel kills.

usage: out_of_memory_test.py BUILD      last line: N passed, N failed, N skipped
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import again

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DWELL = os.path.join(BUILD, "dwell")
MIB = 1 << 20
GROUPS = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")
checks = again.Checks()
check = checks.check


def run(folder, how, mib, option="", group=None):
    trace = os.path.join(folder, "t.dwell")
    command = [DWELL, "run", *([option] if option else []), "-o", trace, os.path.join(folder, "program"), how, str(mib)]
    if group:
        command = ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", *command]
    return trace, subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def tables(trace, name="memory"):
    text = subprocess.run([DWELL, "report", "--view", name, "--format", "json", trace], capture_output=True, text=True,
                          check=True).stdout
    return {table.get("part", ""): table for table in json.loads(text)["views"]}


def sentences(trace, name):
    """Those of a view, but that of the steps, and that one more did not end."""
    heads = list(tables(trace, name).values())[0]["heads"]
    return [head for head in heads if not re.match(r"program: |1 more step ", head)]


def goes_on(folder):
    trace, done = run(folder, "on", 200)
    check("a program that goes on ends well", done.returncode == 0, done)
    heads = sentences(trace, "overview")
    check("the first sentence below the steps says it", re.match(
        r"Memory ran out at .*, in step \d+, in (?:grow|cache) of layer block: no 4.00 MiB were to be had on cpu; of the .* of addresses "
        r"that the process may have \(RLIMIT_AS\), .* were in use. The program went on.$", heads[0]), heads)
    check("and the verdict begins with it", sentences(trace, "verdict")[0] == heads[0], heads)
    check("what held it is said", re.match(r"Recorded blocks of cpu held .* then: activation .*; most is of grow .*, and of layer block", heads[1]), heads)
    failure = tables(trace)["failure"]["rows"]
    held = {(row[1], row[2]): row[3] for row in failure}
    whole = held.get(("category", "activation"), 0)
    check("held is what was asked for until then", 150 * MIB < whole <= 200 * MIB and whole == held.get(("layer", "block")), held)
    check("each owner has its part", held.get(("operator", "grow"), 0) + held.get(("operator", "cache"), 0) == whole and
          held[("operator", "grow")] > 2 * held[("operator", "cache")], held)


def ends(folder):
    trace, done = run(folder, "end", 200)
    check("a program that ends by it", done.returncode == -6, done)
    heads = sentences(trace, "overview")
    check("both are said", heads[0].startswith("Memory ran out at ") and "went on" not in heads[0] and
          any("ended within step" in head or "ended after step" in head for head in heads[1:]), heads)
    trace, done = run(folder, "new", 200, "--memory=malloc:64K")
    heads = sentences(trace, "overview")
    check("a failed malloc is recorded with the heap", done.returncode == -6 and
          re.match(r"Memory ran out at .*: no 4.00 MiB were to be had on cpu \(malloc\)", heads[0]), heads, done.stderr)


def killed(folder):
    for root, limit in GROUPS:
        group = os.path.join(root, f"dwell-test-{os.getpid()}")
        if not os.path.exists(os.path.join(root, "cgroup.procs")):
            continue
        try:
            os.mkdir(group)
            with open(os.path.join(group, limit), "w") as file:
                file.write(str(96 * MIB))
        except OSError:
            if os.path.isdir(group):
                os.rmdir(group)
            continue
        try:
            trace, done = run(folder, "on", 0, group=group)
        finally:
            os.rmdir(group)
        heads = sentences(trace, "overview")
        check("the kernel kills it", done.returncode == -9, done)
        check("the report says whose memory ran out", re.match(
            r"The kernel killed the program, because the memory of its control group ran out, 96.0 MiB.$", heads[0]), heads)
        check("and what held it", re.match(r"Recorded blocks of cpu held .* MiB then: activation", heads[1]), heads)
        return 0
    print("skip killed: no control group of memory can be made")
    return 1


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([shutil.which("gcc") or "cc", "-O1", "-I", os.path.join(ROOT, "include"), "-I", os.path.join(BUILD, "include"),
                        "-o", os.path.join(folder, "program"), os.path.join(ROOT, "tests/probes/out_of_memory.c"), "-L", BUILD,
                        "-Xlinker", f"-rpath={BUILD}", "-ldwell"], check=True)
        goes_on(folder)
        ends(folder)
        skipped = killed(folder)
    print(f"{checks.passed} passed, {checks.failed} failed, {skipped} skipped")
    return checks.failed != 0


sys.exit(main())
