#!/usr/bin/env python3
"""Whether dwell watch names planted hangs and dead ranks, and takes no clean end for a loss.

usage: planted.py BUILD [--jobs N] [--only BEGIN] [--count N] [--page]

A command of its own: 200 hangs in C, Python, MPI, DDP and RPC, and 200 programs that end as they should, take an hour.
--only BEGIN: of what begins so, as "MPI loop". --count N: of each kind only a share, N hangs and N clean ends in all. --page writes doc/measured/hangs.md.

A hang is right if each rank's event is of the rank that did not come or names it, and none is over before the test ends the job.
"""
import argparse
import collections
import concurrent.futures
import datetime
import glob
import json
import os
import platform
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path.insert(0, HERE)
import mpi_installed  # noqa: E402

RANKS = 3
NAMED_S, LOOP_S, STAYS_S = 90, 420, 15

# kind: (form, how many of 200)
HANGS = {
    "C": [("data", 9), ("sleep", 8), ("locks", 9), ("condition", 8), ("loop", 1), ("kill", 5), ("abort", 5), ("segv", 5)],
    "Python": [("data", 6), ("sleep", 6), ("locks", 6), ("queue", 6), ("event", 6), ("loop", 1), ("kill", 5), ("abort", 2), ("segv", 2)],
    "MPI": [("data", 9), ("sleep", 5), ("locks", 9), ("other", 10), ("receive", 9), ("send", 6), ("loop", 1), ("kill", 4), ("segv", 4)],
    "DDP": [("data", 6), ("locks", 6), ("other", 8), ("receive", 6), ("send", 3), ("loop", 1), ("kill", 4), ("abort", 2)],
    "RPC": [("data", 5), ("locks", 4), ("sleep", 4), ("kill", 3), ("segv", 1)],
}
CLEAN = {"C": 130, "Python": 25, "MPI": 20, "DDP": 15, "RPC": 10}
SIGNALS = {"kill": "signal 9", "abort": "signal 6", "segv": "signal 11"}


class Job:
    """A job with its watch, in a folder of its own."""

    def __init__(self, tools, kind, form, number):
        self.tools, self.kind, self.form, self.number = tools, kind, form, number
        choose = random.Random(f"{kind} {form} {number}")
        self.ranks = {"C": 1, "Python": 1, "RPC": 2}.get(kind, RANKS)
        self.culprit = choose.randrange(self.ranks)
        self.step = choose.randrange(40, 120)
        self.launcher = kind in ("MPI", "DDP") and choose.random() < 0.5
        self.folder = tempfile.mkdtemp(prefix=f"planted-{kind}-{form}-")
        self.processes = []

    def dwell(self, name, *options):
        return [self.tools["dwell"], "run", "--summary-every", "2s", *options, "-o", os.path.join(self.folder, name), "--"]

    def start(self, words, **environment):
        log = open(os.path.join(self.folder, "log"), "ab")
        self.processes.append(subprocess.Popen(words, cwd=self.folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                               start_new_session=True, env={**os.environ, **environment}))

    def start_all(self):
        where, steps = [str(self.step), str(self.culprit)], ["--step-on", "train_step"]
        if self.kind == "C":
            self.start([*self.dwell("c.dwell", *steps), self.tools["c"], self.form, *where])
        elif self.kind == "Python":
            self.start([*self.dwell("p.dwell"), self.tools["python"], self.tools["script"], "python", self.form, *where])
        elif self.kind == "MPI":
            launch = [*self.tools["mpirun"], "-n", str(self.ranks)]
            program = [self.tools["mpi"], self.form, *where]
            if self.launcher:
                self.start([*self.dwell("m.dwell", *steps), *launch, *program])
            else:
                own = " ".join(self.dwell("m$OMPI_COMM_WORLD_RANK.dwell", *steps))
                self.start([*launch, "sh", "-c", f'exec {own} "$@"', "sh", *program])
        else:
            self.start_torch([self.tools["script"], self.kind.lower(), self.form, *where])

    def start_torch(self, script):
        if self.launcher:
            self.start([*self.dwell("d.dwell"), self.tools["python"], "-m", "torch.distributed.run", "--nproc-per-node", str(self.ranks),
                        "--master-port", str(free_port()), *script])
            return
        port = str(free_port())
        for rank in range(self.ranks):
            self.start([*self.dwell(f"d{rank}.dwell"), self.tools["python"], *script], RANK=str(rank), LOCAL_RANK=str(rank),
                       WORLD_SIZE=str(self.ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)

    def watch(self):
        self.events = os.path.join(self.folder, "events")
        return subprocess.Popen([self.tools["dwell"], "watch", "--every", "1s", "-f", "json", "--on", "hang=true", self.folder],
                                stdout=open(self.events, "wb"), stderr=subprocess.DEVNULL)

    def said(self):
        with open(self.events, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                pass
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


# ---- what is right ------------------------------------------------------------------------------------------

def names(job, said):
    """Whether the events name what is planted."""
    hangs = [one for one in said if one["event"] == "hang" and not one["over"]]
    lost = [one for one in said if one["event"] == "lost" and not one["over"]]
    if job.form in SIGNALS:
        known = (job.ranks == 1 or not job.launcher) and not (job.kind == "RPC" and job.culprit == 0)  # a server has no steps
        return bool(lost) and is_culprit(job, lost[0]) and (not known or SIGNALS[job.form] in lost[0]["text"])
    if job.form == "other":
        return bool(hangs) and all("all ranks must call the same" in one["text"] for one in hangs)
    if job.form == "send":
        return len(hangs) == job.ranks and all("no rank is elsewhere" in one["text"] for one in hangs)
    if job.kind == "RPC" and job.culprit == 0:  # the server has no steps: the trainer that asks it stands
        return bool(hangs)
    if job.ranks == 1 or job.kind == "RPC":
        return bool(hangs) and is_culprit(job, hangs[0])
    return len(hangs) == job.ranks and \
        all(one["rank"] == job.culprit or f"rank {job.culprit} on" in one["text"] for one in hangs)


def is_culprit(job, event):
    return job.ranks == 1 or event["rank"] == job.culprit or (job.kind == "RPC" and job.culprit == 0)


def run_hang(job):
    """(right, what is wrong)"""
    job.start_all()
    watch = None
    try:
        until = time.monotonic() + 180
        while not glob.glob(job.folder + "/*.sum") and time.monotonic() < until:
            time.sleep(0.5)
        watch = job.watch()
        until = time.monotonic() + (LOOP_S if job.form == "loop" else NAMED_S)
        while time.monotonic() < until and not names(job, job.said()) and watch.poll() is None:
            time.sleep(0.5)
        named = names(job, job.said())
        if job.form not in SIGNALS:
            time.sleep(STAYS_S)
        over = [one for one in job.said() if one["over"]]
    finally:
        job.end()
        if watch:
            watch.terminate()
            watch.wait(timeout=60)
    if over and job.form not in SIGNALS:
        return False, "over: " + over[0]["text"]
    texts = [f"{one['event']} {one.get('rank')}: {one['text']}" for one in job.said()][:4]
    return named, "" if named else "; ".join(texts) or "nothing"


def run_clean(job):
    job.start_all()
    watch = job.watch()
    try:
        for process in job.processes:
            process.wait(timeout=300)
        watch.wait(timeout=60)
    except subprocess.TimeoutExpired:
        pass
    finally:
        job.end()
        watch.terminate()
        watch.wait(timeout=60)
    said = job.said()
    failed = [process.returncode for process in job.processes if process.returncode]
    return not said and not failed, "; ".join(f"{one['event']}: {one['text']}" for one in said[:3]) or f"{failed}"


# ---- all of them --------------------------------------------------------------------------------------------

def plan(options):
    """(kind, form, number) of each job, in a mixed order."""
    share = (options.count or 200) / 200
    jobs = []
    for kind, forms in HANGS.items():
        jobs += [(kind, form, i) for form, count in forms for i in range(max(1, round(count * share)))]
    for kind, count in CLEAN.items():
        jobs += [(kind, "end", i) for i in range(max(1, round(count * share)))]
    jobs = [one for one in jobs if f"{one[0]} {one[1]}".startswith(options.only)]
    random.Random(1).shuffle(jobs)
    return jobs


def prepare(build, folder):
    tools = {"dwell": os.path.join(build, "dwell"), "c": os.path.join(folder, "planted_c"), "mpi": os.path.join(folder, "planted_mpi"),
             "script": os.path.join(HERE, "planted_program.py"), "mpirun": [*mpi_installed.launcher("Open MPI"), "--mca", "mpi_yield_when_idle", "1"]}
    source = os.path.join(HERE, "planted_program.c")
    tools["python"] = subprocess.run([os.path.join(ROOT, "tools/venv"), "torch"], capture_output=True, text=True, check=True).stdout.split()[-1]
    subprocess.run(["cc", "-O1", "-g", "-D_GNU_SOURCE", source, "-o", tools["c"], "-pthread"], check=True)
    subprocess.run([mpi_installed.compiler("Open MPI"), "-O1", "-g", "-D_GNU_SOURCE", "-DWITH_MPI", source, "-o", tools["mpi"], "-pthread"], check=True)
    return tools


def run_one(tools, one):
    job = Job(tools, *one)
    began = time.monotonic()
    try:
        right, why = (run_clean if job.form == "end" else run_hang)(job)
    except Exception as error:  # a job that cannot be run is not right
        right, why = False, f"{type(error).__name__}: {error}"
    print(f"{'right' if right else 'WRONG'} {job.kind} {job.form} {job.number} rank {job.culprit} of {job.ranks}{' launched' * job.launcher}, "
          f"{time.monotonic() - began:.0f} s{'' if right else ': ' + why + ' [' + job.folder + ']'}", flush=True)
    if right:
        shutil.rmtree(job.folder, ignore_errors=True)
    return one, right, why


def table(results):
    rows = collections.OrderedDict()
    for (kind, form, _), right, _ in sorted(results, key=lambda one: (list(HANGS).index(one[0][0]), one[0][1])):
        row = rows.setdefault((kind, form), [0, 0])
        row[0] += right
        row[1] += 1
    return [f"| {kind} | {form} | {right} of {count} |" for (kind, form), (right, count) in rows.items()]


def machine(load):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=False, cwd=HERE).stdout.strip()
    return f"{datetime.date.today()}, commit {commit}; {(models or [platform.machine()])[0]}, {os.cpu_count()} cores, Linux {platform.release()}; load at the start {load:.1f}"


def write_page(results, load):
    hangs = [right for one, right, _ in results if one[1] != "end"]
    clean = [right for one, right, _ in results if one[1] == "end"]
    wrong = [f"- {one[0]}, {one[1]}: {why}" for one, right, why in results if not right]
    lines = ["# Hangs, dead ranks and clean ends that dwell watch sees", "",
             "For readers who ask how far to trust `dwell watch`. Jobs of one to three ranks hang, die or end in a random step.", "",
             f"Hangs that it named right until the job was ended: **{sum(hangs)} of {len(hangs)}**. Clean ends of which it said nothing: "
             f"**{sum(clean)} of {len(clean)}**.", "", f"(`tests/ranks/planted.py build --page`; {machine(load)})", "",
             "| job | what happens | right |", "|---|---|---:|", *table(results), *(["", "Not right:", "", *wrong] if wrong else [])]
    with open(os.path.join(ROOT, "doc/measured/hangs.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--only", default="")
    parser.add_argument("--count", type=int)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        tools = prepare(os.path.abspath(options.build), folder)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(lambda one: run_one(tools, one), plan(options)))
    print("\n".join(table(results)))
    if options.page:
        write_page(results, load)
    right = sum(right for _, right, _ in results)
    print(f"{right} passed, {len(results) - right} failed")
    return right != len(results)


if __name__ == "__main__":
    sys.exit(main())
