"""Records scripts under dwell: those of the tree and those that only git has, each with a limit of time, into a cache that stays.

The cache is a folder: programs/COMMIT/ has tests/verdicts of a commit; traces/SCRIPT-N.dwell is a run's trace, and
traces/SCRIPT-N.json says what the script measured of itself ("truth"), or why there is no trace ("error"), and when and on what it was
recorded, and how much of the processors others took meanwhile. A run whose .json is there is not recorded again, so a recording that was
stopped goes on where it was. Several may record into one cache: each takes what no other is at. When the form of accounts changes, they
are made again from the traces in seconds.
"""
import contextlib
import datetime
import fcntl
import itertools
import json
import os
import platform
import re
import resource
import signal
import subprocess
import tempfile
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
LIMIT = 120  # seconds of one script


class Failed(Exception):
    """A script was not recorded."""


def cache_folder():
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "dwell/verdicts")


# ---- a script from git -----------------------------------------------------------------------------

def extract(case, cache):
    """The path of a script. What git alone has comes into the cache, with the files that were beside it."""
    commit, path = (case.at + case.source).split(":")
    folder = os.path.join(cache, "programs", commit)
    if not os.path.exists(os.path.join(folder, path)):
        os.makedirs(folder, exist_ok=True)
        archive = subprocess.run(["git", "-C", ROOT, "archive", commit, "tests/verdicts"], stdout=subprocess.PIPE, check=False)
        if archive.returncode:
            raise Failed(f"git has no {case.at}{case.source} here: a full clone has it")
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return os.path.join(folder, path)


def compile_source(source, program, build):
    compiler = os.environ.get("CXX", "c++") if source.endswith(".cpp") else os.environ.get("CC", "cc")
    with open(source, encoding="utf-8") as file:
        text = file.read()
    libraries = ["-ldnnl"] if "<dnnl.hpp>" in text else []
    if "#pragma omp" in text:
        libraries.append("-fopenmp")
    done = subprocess.run([compiler, "-O2", "-w", "-I", os.path.join(ROOT, "include"), source, "-o", program, "-L", build, "-ldwell",
                           "-Xlinker", "-rpath=" + build, *libraries, "-lpthread", "-lm"], stderr=subprocess.PIPE, text=True, check=False, timeout=LIMIT)
    if done.returncode:
        raise Failed(f"it does not compile: {done.stderr.strip()[-200:]}")


# ---- a run -----------------------------------------------------------------------------------------

def environment(build):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DWELL_")}
    kept["PYTHONDONTWRITEBYTECODE"] = "1"
    # A script may import dwell, as where it is installed, and what records actions of Lightning.
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, [os.path.join(ROOT, "python"), kept.get("PYTHONPATH")]))
    libraries = [build, os.path.join(build, "src/interfaces/compat/lightning"), kept.get("LD_LIBRARY_PATH")]
    kept["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, libraries))
    return kept


def run(command, folder, build, limit=LIMIT):
    """What a command printed. After the limit, it ends with all that it started."""
    with subprocess.Popen(command, cwd=folder, env=environment(build), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", start_new_session=True) as process:
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired as error:
            raise Failed(f"stopped after {limit} s") from error
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise Failed(f"exit status {process.returncode}: {(errors or output).strip()[-300:]}")
    return output


def find_truth(output):
    """The line that the script printed about itself."""
    line = re.search(r"^TRUTH (\{.*\})$", output, re.M)
    if not line:
        raise Failed("the script printed no TRUTH")
    return json.loads(line.group(1))


class Recorder:
    """`python`: one that has PyTorch. `build`: where dwell was built."""

    def __init__(self, cache, build, python, limit=LIMIT):
        self.cache, self.build, self.python, self.limit = cache, build, python, limit
        self.traces = os.path.join(cache, "traces")
        os.makedirs(self.traces, exist_ok=True)

    def path(self, case, number, kind):
        return os.path.join(self.traces, f"{case.source}-{number}.{kind}")

    def runs(self, case):
        """[(number, what its .json says)] of the runs that were recorded."""
        found = []
        for number in itertools.count():
            try:
                with open(self.path(case, number, "json"), encoding="utf-8") as file:
                    found.append((number, json.load(file)))
            except (FileNotFoundError, ValueError):
                return found

    def is_done(self, case, number, retry=False, most_others=float("inf")):
        """Whether there is nothing to record. `retry`: a failure is recorded again; `most_others`: so is a run beside which other programs
        had more of the processors."""
        try:
            with open(self.path(case, number, "json"), encoding="utf-8") as file:
                said = json.load(file)
        except (FileNotFoundError, ValueError):
            return False
        return not (retry and "error" in said) and others(said["recorded"]) <= most_others

    def attempt(self, case, trace, folder):
        source = extract(case, self.cache)
        command = [self.python, *case.launcher, source]
        if source.endswith((".c", ".cpp")):
            program = os.path.join(folder, os.path.splitext(case.source)[0])
            compile_source(source, program, self.build)
            command = [program]
        dwell = os.path.join(self.build, "dwell")
        return find_truth(run([dwell, "run", *case.options, "-o", trace, "--", *command], folder, self.build, self.limit))

    @contextlib.contextmanager
    def claim(self, case, number):
        """Yields whether no other process is at this run. A process that ends leaves what it had."""
        with open(self.path(case, number, "lock"), "w", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True
            os.remove(file.name)

    def record(self, case, number):
        """Records one run, and returns what its .json says."""
        said, begin = {}, processor_times()
        with tempfile.TemporaryDirectory(prefix="run-", dir=self.cache, ignore_cleanup_errors=True) as folder:
            trace = os.path.join(folder, "run.dwell")
            try:
                said["truth"] = self.attempt(case, trace, folder)
                os.replace(trace, self.path(case, number, "dwell"))
            except (Failed, OSError, subprocess.SubprocessError, ValueError) as failed:
                said["error"] = " ".join(str(failed).split())
        said["recorded"] = describe(begin, processor_times())
        keep_json(self.path(case, number, "json"), said)
        return said


# ---- the machine -----------------------------------------------------------------------------------

def processor_times():
    """The time now, the processor time of all programs of the machine, and that of this process's children, in seconds."""
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open("/proc/stat", encoding="utf-8") as file:
        user, nice, system, _, _, interrupt, soft, stolen = map(int, file.readline().split()[1:9])
    return time.monotonic(), (user + nice + system + interrupt + soft + stolen) / os.sysconf("SC_CLK_TCK"), own.ru_utime + own.ru_stime


def describe(begin, end):
    """When and on what a run was recorded. "others 30%": of the processors' time, other programs had so much."""
    wall, ran, own = (after - before for before, after in zip(begin, end))
    others = max(0, ran - own) / (wall * os.cpu_count())
    return f"{datetime.date.today().isoformat()}; {processor()}, {len(os.sched_getaffinity(0))} cores; others {others:.0%}"


def others(recorded):
    """The share of the processors that other programs had, from what describe() says. Where only the machine's load is known, all of it."""
    share = re.search(r"others (\d+)%", recorded)
    if share:
        return int(share.group(1)) / 100
    load = re.search(r"load ([\d.]+)", recorded)
    return min(1, float(load.group(1))) if load else 0


def processor():
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^model name\s*:\s*(.+)$", file.read(), re.M)
        if found:
            return found.group(1)
    return platform.machine()


def keep_json(path, what):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(what, file)
    os.replace(path + ".new", path)
