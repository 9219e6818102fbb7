"""What the scripts of this folder share: fetch an engine, patch it, build it, run it under dwell, check.

Each script ends with one line of a table: tab-separated cells, in the order of COLUMNS.
"""
import csv
import io
import os
import re
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = ("engine", "lines changed", "steps", "own timer, ms", "dwell, ms", "a step differs by", "first sentence")


def run(*command, folder=None, **environment):
    """Runs a command; returns what it printed."""
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}")
    return done.stdout


class Engine:
    """A copy of an engine's sources at one commit, in WORK/NAME."""

    def __init__(self, name, url, commit):
        self.name = name
        self.work = os.environ.get("ENGINES_WORK", os.path.join(os.path.expanduser("~/.cache/dwell"), "engines"))
        self.folder = os.path.join(self.work, name)
        sources = os.environ.get("ENGINES_SOURCES")  # a folder of clones, for machines without a network
        self.url = os.path.join(sources, name) if sources else url
        self.changed = 0
        os.makedirs(self.work, exist_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        run("git", "init", "-q", self.folder)
        run("git", "fetch", "-q", "--depth", "1", self.url, commit, folder=self.folder)
        run("git", "checkout", "-q", "FETCH_HEAD", folder=self.folder)

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
            return [f"-I{include}", f"-L{build}", f"-Wl,-rpath,{build}", "-ldwell"]
        return run("pkg-config", "--cflags", "--libs", "dwell").split()

    @staticmethod
    def query(dwell, trace, sql):
        return list(csv.reader(io.StringIO(run(dwell, "query", "--format", "csv", trace, sql))))[1:]

    def check(self, *command, own_ms=r"took ([\d.]+) ms"):
        """Runs the program under dwell and prints the line. `own_ms` finds the program's own times of steps."""
        dwell = os.path.join(os.environ["DWELL_BUILD"], "dwell") if "DWELL_BUILD" in os.environ else "dwell"
        trace = os.path.join(self.work, f"{self.name}.dwell")
        if os.path.exists(trace):
            os.remove(trace)
        own = [float(text) for text in re.findall(own_ms, run(dwell, "run", "-o", trace, *command, folder=self.folder))]
        steps = [float(row[0]) / 1e6 for row in
                 self.query(dwell, trace, "select duration_ns from steps where counted order by step")]
        # Another program may run between the two readings of a clock: the median of the steps does not see it.
        difference = statistics.median(ours / its - 1 for ours, its in zip(steps, own)) if steps and own else 1
        sentence = self.query(dwell, trace, "select statement from verdict limit 1")[0][0]
        print("\t".join((self.name, str(self.changed), str(len(steps)), f"{sum(own):.1f}", f"{sum(steps):.1f}",
                         f"{difference:+.2%}", sentence)))
        if len(steps) != len(own) or abs(difference) > 0.01:
            sys.exit(f"{self.name}: {len(own)} steps of {sum(own):.1f} ms by its own timer, {len(steps)} of "
                     f"{sum(steps):.1f} ms by dwell; the same steps, at most 1% apart in the median, are expected")
