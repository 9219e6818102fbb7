#!/usr/bin/env python3
"""Each call of dwell's code for memory, files or threads fails once, in turn: nothing crashes, and nothing is wrong.

usage: faults.py BUILD [--every N] [--only TEXT] [--list]

A command that prints a trace either prints what it always prints, or says what failed and has an exit status that is
not 0. A program that is recorded prints and returns what it does without dwell, and its trace opens or is refused with
a reason. --every: of the calls after the first 40 of each function, only every Nth fails (1).
The last line is "N passed, N failed, N skipped".
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

SOURCES = os.path.dirname(os.path.abspath(__file__))
FIRST, SECONDS = 40, 60


class Broken(Exception):
    pass


def run(command, environment):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    except subprocess.TimeoutExpired:
        raise Broken(f"it does not end within {SECONDS} seconds") from None


def check_printed(done, usual, function):
    """A command of dwell that reads."""
    if done.returncode < 0 or done.returncode > 128:
        raise Broken(f"signal: exit status {done.returncode}: {done.stderr[-300:]}")
    if function == "stat64":  # of what is shown in a line of its own: the age and the size of a file
        return
    if done.returncode == usual.returncode and done.stdout != usual.stdout:
        raise Broken(f"exit status {done.returncode}, but it printed something else than usually: {done.stderr[-300:]}")
    if done.returncode != usual.returncode and "dwell: " not in done.stderr:
        raise Broken(f"exit status {done.returncode} without a reason: {done.stderr[-300:]!r}")


def check_recorded(done, usual, function):
    """A program that is recorded notices nothing; or dwell run says before it starts why it cannot record."""
    if done.returncode == 125 and "dwell: " in done.stderr and not done.stdout:
        return
    if (done.returncode, done.stdout) != (usual.returncode, usual.stdout):
        raise Broken(f"the program's exit status is {done.returncode}, and it printed {done.stdout[-200:]!r}: {done.stderr[-300:]}")


class Faults:
    def __init__(self, build, folder):
        self.dwell = os.path.join(build, "dwell")
        self.folder = folder
        self.library = os.path.join(folder, "fault.so")
        self.trace = os.path.join(folder, "given.dwell")
        self.work = os.path.join(build, "tests/ask/ask_work")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-D_GNU_SOURCE", "-o", self.library, os.path.join(SOURCES, "fault.c"), "-ldl"],
                       check=True)
        self.other = os.path.join(folder, "other.dwell")
        for trace in (self.trace, self.other):
            subprocess.run([self.dwell, "run", "-o", trace, self.work, "30"], check=True, capture_output=True)
        self.chrome = os.path.join(folder, "given.json")
        subprocess.run([self.dwell, "export", "-f", "chrome", "-o", self.chrome, self.trace], check=True, capture_output=True)
        self.ranks = [os.path.join(folder, f"rank{rank}.dwell") for rank in range(2)]
        for rank, trace in enumerate(self.ranks):
            subprocess.run([self.dwell, "run", "--sample", "off", "-o", trace, self.work, "3"], check=True, capture_output=True,
                           env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"})

    def new(self):
        """The path of a trace that does not exist."""
        for name in os.listdir(self.folder):
            if name.startswith("new."):
                os.unlink(os.path.join(self.folder, name))
        return os.path.join(self.folder, "new.dwell")

    def scenarios(self):
        """Name: command, program whose calls fail, the library in it or "", what checks the outcome."""
        read = {
            "report": ["report", self.trace],
            "report every view": ["report", "-f", "json", "--view", "steps", "--view", "operators", "--view", "tree",
                                  "--view", "memory", "--view", "phases", self.trace],
            "report html": ["report", "-f", "html", self.trace],
            "export chrome": ["export", "-f", "chrome", self.trace],
            "export perfetto": ["export", "-f", "perfetto", self.trace],
            "export speedscope": ["export", "-f", "speedscope", self.trace],
            "summary": ["report", "--summary", "--format", "json", self.trace],
            "info": ["info", self.trace],
            "diff": ["diff", self.trace, "--", self.other],
            "query": ["query", self.trace, "select count(*) from steps"],
            "summarize": ["summarize", "-o", "{new}", self.trace],
            "pack": ["pack", "-o", "{new}", self.trace],
            "part": ["pack", "--steps", "3..8", "-o", "{new}", self.trace],
            "ranks": ["ranks", *self.ranks],
            "import": ["report", self.chrome],
            "import rocprof": ["report", os.path.join(SOURCES, "..", "data", "vendors", "rocprofv3.json.gz")],
            "import unitrace": ["report", os.path.join(SOURCES, "..", "data", "vendors", "unitrace.json.gz")],
        }
        found = {name: ([self.dwell, *command], "dwell", "", check_printed) for name, command in read.items()}
        found["run"] = ([self.dwell, "run", "--sample", "off", "-o", "{new}", "--", "/bin/echo", "done"], "dwell", "", check_recorded)
        for name, library, sample in (("recorded", "libdwell.so", "off"), ("sampled", "libdwell-sampler.so", "250")):
            found[name] = ([self.dwell, "run", "--sample", sample, "-o", "{new}", "--", "/bin/sh", "-c",
                            f'LD_PRELOAD="{self.library}:$LD_PRELOAD" "$0" 3 > /dev/null; echo $?', self.work],
                           os.path.basename(self.work)[:15], library, check_recorded)
        return found

    def run(self, command, program, library, fault=None, counts=None):
        environment = {"DWELL_FAULT_PROGRAM": program}
        if library:
            environment["DWELL_FAULT_LIBRARY"] = library
        if "LD_PRELOAD" not in " ".join(command):
            environment["LD_PRELOAD"] = self.library
        if fault:
            environment["DWELL_FAULT"] = fault
        if counts:
            environment["DWELL_FAULT_COUNTS"] = counts
        new = self.new()
        done = run([part.replace("{new}", new) for part in command], environment)
        done.stdout = done.stdout.replace(new, "NEW")
        if os.path.exists(new) and new.endswith(".dwell"):
            opened = run([self.dwell, "info", new], {})
            if opened.returncode < 0 or (opened.returncode and "dwell: " not in opened.stderr):
                raise Broken(f"what it wrote does not open: {opened.stderr[-300:]}")
        return done

    def count(self, scenario):
        """How often each function is called."""
        path = os.path.join(self.folder, "counts")
        if os.path.exists(path):
            os.unlink(path)
        usual = self.run(*scenario[:3], counts=path)
        counts = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    name, number = line.split()
                    counts[name] = max(counts.get(name, 0), int(number))
        return usual, counts


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    passed = failed = 0
    if not shutil.which("cc"):
        print("skipped: there is no compiler\n0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory(prefix="dwell-faults-") as folder:
        faults = Faults(os.path.abspath(options.build), folder)
        os.chdir(folder)
        for name, scenario in faults.scenarios().items():
            if options.only not in name:
                continue
            usual, counts = faults.count(scenario)
            if options.list:
                print(name, counts)
                continue
            before = passed, failed
            for function, number in counts.items():
                for at in range(1, number + 1):
                    if at > FIRST and (at - FIRST) % options.every:
                        continue
                    try:
                        scenario[3](faults.run(*scenario[:3], fault=f"{function}:{at}"), usual, function)
                        passed += 1
                    except Broken as why:
                        failed += 1
                        print(f"FAILED {name}: call {at} of {number} of {function}: {why}", flush=True)
            print(f"{name}: {passed - before[0]} passed, {failed - before[1]} failed", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
