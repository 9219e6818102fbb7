"""What the scripts of this folder share: fetch an engine, patch it, build it, run it under dwell, check.

Each script ends with one line of a table: tab-separated cells, in the order of COLUMNS.
"""
import csv
import io
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = ("engine", "lines changed", "steps", "own timer, ms", "dwell, ms", "differs by", "cost", "first sentence")
TRIES = 3
DWELL = os.path.join(os.environ["DWELL_BUILD"], "dwell") if "DWELL_BUILD" in os.environ else "dwell"


def run(*command, folder=None, **environment):
    """Runs a command; returns what it printed."""
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1800)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def venv(*arguments):
    """Makes an environment of pip's packages, once per machine; returns its Python, or the folder with its packages."""
    return run(os.path.join(HERE, "../../tools/venv"), *arguments).splitlines()[-1]


PAGE = os.path.join(HERE, "../../doc/measured/engines.md")


def when():
    """The day, the commit and the machine of a measurement."""
    commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True).stdout.strip()
    return f"{time.strftime('%Y-%m-%d')}, {commit or 'no commit'}, {os.cpu_count()} CPUs, Linux {platform.release().split('-')[0]}"


def write_lines(mark, head, columns, numbers, rows, key):
    """Puts rows into the page's table that follows the line `mark`, in the place of those with the same first `key` cells."""
    text = ""
    if os.path.exists(PAGE):
        with open(PAGE, encoding="utf-8") as page:
            text = page.read()
    before, found, after = text.partition(mark)
    old, mark_of_next, rest = after.partition("\n## ") if found else ("", "", "")
    old = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in old.splitlines() if line.startswith("|")][2:]
    gone = {tuple(row[:key]) for row in rows}
    rows = sorted([row for row in old if tuple(row[:key]) not in gone] + [[cell.replace("|", "/") for cell in row] for row in rows])
    table = [columns, ["---:" if column in numbers else "---" for column in columns]] + rows
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write((before if found else text + "\n" * bool(text)) + mark + head +
                   "".join(f"| {' | '.join(row)} |\n" for row in table) + mark_of_next + rest)


class Engine:
    """A copy of an engine's sources at one commit, in WORK/NAME: of these folders. Or of the sources that a package of pip
    contains in a folder."""

    def __init__(self, name, url="", commit="", folders=(".",), package="", within=""):
        self.name = name
        self.work = os.environ.get("ENGINES_WORK", os.path.join(os.path.expanduser("~/.cache/dwell"), "engines"))
        self.folder = os.path.join(self.work, name)
        self.trace = self.folder + ".dwell"
        sources = os.environ.get("ENGINES_SOURCES")  # a folder of clones, for machines without a network
        self.changed = 0
        os.makedirs(self.work, exist_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        if package:
            os.makedirs(self.folder)
            name = package.replace("-", "_").replace("==", "-")
            archive = os.path.join(self.work, name + ".tar.gz")
            if not os.path.exists(archive):
                run(sys.executable, "-m", "pip", "-q", "download", "--no-deps", "--no-binary", ":all:", "-d", self.work, package)
            run("tar", "-xzf", archive, "-C", self.folder, f"--strip-components={within.count('/') + 2}", f"{name}/{within}")
            return
        if not commit:  # it is installed: a folder for what is made
            os.makedirs(self.folder)
            return
        if sources:
            run("git", "clone", "-q", "--shared", "--no-checkout", os.path.join(sources, os.path.basename(url)), self.folder)
        else:
            run("git", "init", "-q", self.folder)
            run("git", "fetch", "-q", "--depth", "1", url, commit, folder=self.folder)
        run("git", "checkout", "-q", commit, "--", *folders, folder=self.folder)

    def patch(self, name, counts=True):
        """Applies a patch of this folder; `counts`: its added lines are what the author of the engine writes."""
        path = os.path.join(HERE, name)
        run("git", "apply", path, folder=self.folder)
        with open(path, encoding="utf-8") as patch:
            added = [line for line in patch if line.startswith("+") and not line.startswith("+++")]
        self.changed += len(added) if counts else 0

    def flags(self):
        """Options of the compiler and the linker, as `pkg-config --cflags --libs dwell` prints them."""
        build = os.environ.get("DWELL_BUILD")  # an uninstalled build
        if build:
            include = os.path.join(os.path.dirname(os.path.dirname(HERE)), "include")
            return [f"-I{include}", f"-L{build}", "-Xlinker", f"-rpath={build}", "-ldwell"]
        return run("pkg-config", "--cflags", "--libs", "dwell").split()

    def change(self, name, old, new, marks=False):
        """Replaces a text that a file has once; `marks`: the added lines are what the author of the engine writes."""
        path = os.path.join(self.folder, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.count(old) != 1:
            sys.exit(f"{self.name}: {name} has {old!r} {text.count(old)} times")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
        self.changed += new.count("\n") - old.count("\n") if marks else 0

    def record(self, *command, options=(), **environment):
        """Runs the program under dwell; returns what it printed."""
        if os.path.exists(self.trace):
            os.remove(self.trace)
        self.bound = f" ({' '.join(options)})" if "--cost" in options else ""
        if "ENGINES_COMMAND" in os.environ:  # the script `shares` runs it again
            with open(os.environ["ENGINES_COMMAND"], "a", encoding="utf-8") as file:
                print(json.dumps({"name": self.name, "folder": self.folder, "command": command, "environment": environment}), file=file)
        return run(DWELL, "run", "-o", self.trace, *options, "--", *command, folder=self.folder, **environment)

    def ask(self, question):
        """The rows that answer a question in SQL."""
        return list(csv.reader(io.StringIO(run(DWELL, "query", "--format", "csv", self.trace, question))))[1:]

    def steps_ms(self):
        return [float(row[0]) / 1e6 for row in self.ask("select duration_ns from steps order by step")]

    def compare(self, measure, most=0.01):
        """Prints the line, and fails if dwell has other steps or other times than the program's own. `measure` runs the
        program and returns the times by its own timer and by dwell, how many steps dwell has and the program made, and by
        how much the times differ, if not in their sums. Other programs may disturb a run: of three, one must fit. A program without a timer has the time 0."""
        for _ in range(TRIES):
            own_ms, dwell_ms, steps, expected, *difference = measure()
            difference = difference[0] if difference else dwell_ms / own_ms - 1 if own_ms else 0
            fits = steps == expected and abs(difference) <= most
            if fits:
                break
        (cost,), = self.ask("select shown from facts where fact = 'run.profiler'") or (("",),)
        (sentence,), = self.ask("select statement from verdict limit 1") or (("nothing stands out",),)
        own = (f"{own_ms:.1f}", f"{dwell_ms:.1f}", f"{difference:+.2%}") if own_ms else ("none", f"{dwell_ms:.1f}", "")
        print("\t".join((self.name, str(self.changed), str(steps), *own, cost + self.bound, sentence)))
        if not fits and "ENGINES_COMMAND" not in os.environ:
            sys.exit(f"{self.name}: {expected} steps of {own_ms:.1f} ms by its own timer, {steps} of {dwell_ms:.1f} ms by "
                     f"dwell; the same steps, at most {most:.0%} apart, are expected")

    def count(self, function, *command, calls, own_ms=None, untimed=0, **environment):
        """Runs the program with --step-on (None: it marks its steps), and compares the steps with the calls of the function: their
        number, or what finds it in what the program printed. own_ms: finds there the time that all steps took, but for the first `untimed` ones.
        The last step lasts to the end of the program: it is left out on both sides."""
        def measure():
            said = self.record(*command, options=["--step-on", function] if function else [], **environment)
            steps, expected = self.steps_ms(), calls(said) if callable(calls) else calls
            timed = steps[untimed:-1]
            own = own_ms(said) * len(timed) / (expected - untimed) if own_ms else 0
            return own, sum(timed), len(steps), expected
        self.compare(measure)

    def check(self, *command, own_ms=r"took ([\d.]+) ms", **environment):
        """Runs the program and compares each step with its own times; `own_ms` finds them in what it prints."""
        def measure():
            own = [float(text) for text in re.findall(own_ms, self.record(*command, **environment))]
            steps = self.steps_ms()
            # Another program may run between the two readings of a clock: the median of the steps leaves that out.
            difference = statistics.median(ours / its - 1 for ours, its in zip(steps, own)) if steps and own else 1
            return sum(own), sum(steps), len(steps), len(own), difference
        self.compare(measure)
