#!/usr/bin/env python3
"""Programs in C without a probe whose steps take twice as long as necessary: does the report name the function of the excess?

usage: planted_test.py BUILD [--write] [CASE...]

planted.c has the cases: functions, memory, waits and spins. Each is run by `dwell run --step-on train_step`. A case counts if a
sentence above the report's tables names the function, and counts as a line if it names the file and a line in that function.
Fails if fewer than 90% are named. With --write the result is also doc/measured/planted.md. On a machine that other programs use,
threads that spin get less of it, and the excess is not theirs. The last line is "N passed, N failed".
"""
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "planted.c")
PAGE = os.path.join(os.path.dirname(SOURCE), "../../doc/measured/planted.md")
LEAST = 0.9
HEAD = """# Whether a report names the function of an excess, in C

For readers who ask how far to trust a report of a program without probes.

A training loop in C without a probe, whose step takes twice as long as necessary, for one of {all} causes: `tests/probes/planted.c`. `dwell run --step-on train_step` records it, and `dwell report` follows. A function is named if a sentence above the report's tables has its name. Asked: 90%.

Named: **{named} of {all}** functions, {placed} with a line in them.

(`tests/probes/planted_test.py --write`; {date}, commit {commit}; {machine}; load at the start {load:.1f}.)

| case | function | named | what the report says |
|---|---|---|---|
"""


def lines_of(functions):
    """The lines of the source in which these functions are, as ranges."""
    with open(SOURCE, encoding="utf-8") as file:
        text = file.read().split("\n")
    found = []
    for name in functions:
        begin = next(i for i, line in enumerate(text, 1) if re.match(rf"static .*\b{name}\(", line))
        found.append(range(begin, begin + text[begin:].index("}") + 2))
    return found


def sentences(folder, program, name):
    """What the report says above its first table."""
    trace = os.path.join(folder, name + ".dwell")
    ran = subprocess.run([DWELL, "run", "-o", trace, "--step-on", "train_step", program, name], capture_output=True, text=True,
                         cwd=folder, timeout=120, check=False)
    shown = subprocess.run([DWELL, "report", "--format", "json", trace], capture_output=True, text=True, timeout=120, check=False)
    if ran.returncode or shown.returncode:
        return ran.stderr + shown.stderr
    return "\n".join(json.loads(shown.stdout)["views"][0]["heads"])


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = re.findall(r"model name\s*: (.*)", file.read())
    return f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}"


def write(rows, named, placed, load):
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=False, cwd=os.path.dirname(SOURCE))
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(HEAD.format(all=len(rows), named=named, placed=placed, date=datetime.date.today(), commit=commit.stdout.strip(),
                               machine=machine(), load=load))
        for name, functions, is_named, text in rows:
            file.write(f"| {name} | {' or '.join(f'`{function}`' for function in functions)} | {'yes' if is_named else '**no**'} | {text} |\n")


def verdict(text, functions):
    """The sentence that names a function, or all of them that are no head."""
    lines = [line for line in text.split("\n") if not line.startswith("  ") and not re.match(r"(\S+: )?\d+ (more )?steps? ", line)]
    return next((line for line in lines if any(re.search(rf"\b{function}\b", line) for function in functions)), " ".join(lines))


def main():
    words = [word for word in sys.argv[2:] if word != "--write"]
    named = placed = 0
    rows, load = [], os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "planted")
        subprocess.run(["gcc", "-O2", "-g", SOURCE, "-o", program, "-lm", "-pthread"], check=True)
        cases = [line.split(" ") for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()]
        for name, functions in cases:
            if words and name not in words:
                continue
            text = sentences(folder, program, name)
            functions = functions.split("|")
            lines = [int(number) for number in re.findall(r"planted\.c:(\d+)", text)]
            is_named = any(re.search(rf"\b{function}\b", text) for function in functions)
            named += is_named
            placed += is_named and any(line in within for line in lines for within in lines_of(functions))
            rows.append((name, functions, is_named, verdict(text, functions)))
            if not is_named:
                print(f"{name}: {' or '.join(functions)} is not named:\n{text}\n", file=sys.stderr)
    print(f"{named} of {len(rows)} functions are named, {placed} with a line; missed: "
          f"{', '.join(row[0] for row in rows if not row[2]) or 'none'}")
    if "--write" in sys.argv:
        write(rows, named, placed, load)
    good = named >= LEAST * len(rows)
    print(f"{int(good)} passed, {int(not good)} failed")
    return not good


if __name__ == "__main__":
    sys.exit(main())
