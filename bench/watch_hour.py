#!/usr/bin/env python3
"""What dwell watch says of two jobs in which faults are planted at random times, compared with the plan, and what dwell costs.

usage: bench/watch_hour.py BUILD PYTHON [--minutes N] [--seed N] [--to FILE] [--pictures FOLDER]

Two jobs of eight ranks run under Slurm on two simulated nodes (tests/ranks/slurm_here.py; needs root): PyTorch's gloo, and MPI in C.
Each rank runs under dwell run --always --gather, and dwell watch reads the gathered folder, which is a small tmpfs. PYTHON has torch.
One fault at a time is planted in a job: a slow rank, a rank that is stopped, a rank that is killed (the job is then started
again), a full folder, a rank that leaks. Ranks sleep for most of a step, so that all of it takes a quarter of a core. Prints a
table of what was named, when and how, and one of memory, time and files; --to writes them as a page. With --pictures a Prometheus
of Debian reads what dwell watch serves, and Chromium makes pictures of its graphs, which the page shows.
"""
import argparse
import calendar
import glob
import importlib.machinery
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(ROOT, "tests/ranks"), os.path.join(ROOT, "tests/page")]
import browser
import mpi_installed
import prometheus_here
import slurm_here
page_pictures = importlib.machinery.SourceFileLoader("page_pictures", os.path.join(ROOT, "tools/make/page_pictures")).load_module()

RANKS = 8
SUMMARY_S = 30  # of dwell run --always
# A fault's length in seconds, and the events that name it. What follows from it is no false alarm: other ranks wait for a slow one.
FAULTS = {"slow rank": (180, {"slow"}), "stopped rank": (75, {"hang", "lost"}), "killed rank": (0, {"lost"}),
          "full folder": (150, {"lost"}), "leak": (330, {"memory"})}
FOLLOWS = {"slow rank": {"slower"}, "stopped rank": {"slower"}, "killed rank": {"hang"}, "full folder": {"slower"}, "leak": set()}
SETTLE_S = 60  # after a fault, in which its events may still come
KILLED_S = 150  # after a rank was killed: its file is missed when it was not written for three times as long as before
STEP_S, SLOWER = .5, .2  # a step, and how much longer a slow rank works
LEAK_BYTES_S = 8 << 20
HANG_S = 10  # the limit for steps as short as these
# Pictures of Prometheus' graphs: name, query, and what is seen.
PARTS = "sum by (job, rank) (rate(dwell_step_part_seconds_total%s[3m]))"
GRAPHS = (("watch-steps.png", "sum by (job, rank) (rate(dwell_steps_total[3m]))",
           "Steps a second, a line for each rank of both jobs: a rank that is stopped or killed stops its job; after a full folder the "
           "steps of that time come at once."),
          ("watch-memory.png", "sum by (job, rank) (dwell_resident_memory_bytes)",
           "Resident memory: one rank of a job at a time leaks, and gloo's ranks free it afterwards. In a gap a job is started again."),
          ("watch-waiting.png", PARTS % '{part="communication"}' + " / " + PARTS % "",
           "Part of the time in communication: much in ranks that wait for a stopped one, more than usual in those that wait for a slow "
           "one, and less than usual in the slow one."))

TORCH = f"STEP_S, SLOWER, LEAK_BYTES = {STEP_S}, {SLOWER}, {int(LEAK_BYTES_S * STEP_S)}" + """
import os, sys, time
import torch, torch.distributed as dist
rank, name = int(os.environ["SLURM_PROCID"]), sys.argv[1]
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method="tcp://127.0.0.1:" + sys.argv[2], rank=rank, world_size=int(os.environ["SLURM_NTASKS"]))
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), .01)
kept = []
while True:
    time.sleep(STEP_S * (1 + SLOWER * os.path.exists(f"{name}.{rank}.slow")))
    if os.path.exists(f"{name}.{rank}.leak"):
        kept.append(bytearray(b"x" * LEAK_BYTES))
    elif kept:
        kept = []
    optimizer.zero_grad()
    model(torch.ones(8, 64)).square().mean().backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
    optimizer.step()
"""

MPI = f"#define STEP_US {STEP_S * 1e6}\n#define SLOWER {SLOWER}\n#define LEAK_BYTES {int(LEAK_BYTES_S * STEP_S)}\n" + r"""
#include <dwell/probe.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **words)
{
	char slow[300], leak[300];
	float one = 1, sum;
	int rank;

	MPI_Init(&count, &words);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(slow, sizeof slow, "%s.%d.slow", words[1], rank);
	snprintf(leak, sizeof leak, "%s.%d.leak", words[1], rank);
	for (;;) {
		DWELL_STEP();
		{
			DWELL_PHASE("forward");
			usleep((useconds_t)(STEP_US * (1 + SLOWER * (access(slow, F_OK) == 0))));
			if (access(leak, F_OK) == 0)
				memset(malloc(LEAK_BYTES), 1, LEAK_BYTES);
		}
		/* MPICH waits by spinning, which sixteen ranks on two cores do not bear. */
		MPI_Request request;
		int done = 0;
		DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "all_reduce");
		MPI_Iallreduce(&one, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
		while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == 0 && !done)
			usleep(5000);
	}
}
"""


def seconds_of(when):
    return calendar.timegm(time.strptime(when, "%Y-%m-%dT%H:%M:%SZ"))


class Job:
    """A job that is started again when a rank was killed, the watch of it, and its events."""

    def __init__(self, name, command, options, hour):
        self.name, self.command, self.options, self.hour = name, command, options, hour
        self.folder = os.path.join(hour.folder, name)
        os.makedirs(self.folder + "/shared")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", self.folder + "/shared"], check=True)
        self.generation, self.events, self.plan, self.ranks = 0, [], [], []
        self.port = slurm_here.free_ports(1)[0]  # of its watch

    def start(self):
        self.generation += 1
        self.began = time.time()
        self.results = f"{self.folder}/shared/{self.generation}"
        local = f"{self.folder}/local{self.generation}"
        os.mkdir(self.results)
        os.mkdir(local)
        port = slurm_here.free_ports(1)[0]
        with open(self.folder + "/printed", "ab") as log:
            self.srun = subprocess.Popen(
                ["srun", "-N2", f"-n{RANKS}", "--overlap", "--kill-on-bad-exit=1", *self.options, "bash", "-c",
                 f'exec {self.hour.dwell} run --always -o {local}/$SLURM_PROCID.dwell --max-size 32M --gather {self.results} -- "$@"', "bash", *self.command, self.folder + "/fault", str(port)],
                env={**self.hour.slurm.environment, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}, stdout=log, stderr=log)
        self.hour.slurm.wait(lambda: len(glob.glob(self.results + "/*.sum")) == RANKS, 180)
        path = f"{self.folder}/events{self.generation}"
        with open(path, "wb") as out:
            self.watch = subprocess.Popen([self.hour.dwell, "watch", "-f", "json", "--port", str(self.port), self.results], stdout=out,
                                          stderr=subprocess.DEVNULL)

    def take_events(self):
        with open(f"{self.folder}/events{self.generation}", encoding="utf-8") as file:
            self.events += [json.loads(line) for line in file if line.endswith("\n")]

    def end(self):
        self.ranks += [figures for rank in range(RANKS) for figures in [self.measure(rank)] if figures]
        self.watch.terminate()
        self.watch.wait()
        self.take_events()
        self.srun.kill() if self.srun.poll() is None else None
        self.srun.wait()
        shutil.rmtree(self.results, ignore_errors=True)

    def measure(self, rank, cost=False):
        """Memory, time and files of a rank; None: it does not run any more."""
        trace = f"{self.folder}/local{self.generation}/{rank}.dwell"
        try:
            runner, program = self.processes(rank)
            own, passed = seconds_of_cpu(runner, True), time.time() - self.began
            figures = {"in the rank": dwell_memory(program), "dwell run": memory(runner), "cpu": own / passed,
                       "load": seconds_of_cpu(program) / passed, "trace": size(trace), "summary": size(trace + ".sum"),
                       "slow steps": sum(size(path) for path in glob.glob(trace[:-6] + ".slow-*"))}
        except (OSError, StopIteration):
            return None
        if cost:
            figures.update(self.hour.cost(trace))
        return figures

    def processes(self, rank):
        """The dwell run of a rank, and its program."""
        local = f"{self.folder}/local{self.generation}/{rank}.dwell".encode()
        runner = next(pid for pid in os.listdir("/proc") if pid.isdigit() and self.is_runner(pid, local))
        with open(f"/proc/{runner}/task/{runner}/children", encoding="utf-8") as file:
            children = file.read().split()
        return int(runner), next(int(pid) for pid in children if "summarize" not in open(f"/proc/{pid}/cmdline", encoding="utf-8").read())

    @staticmethod
    def is_runner(pid, trace):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            return False
        return words[1:2] == [b"run"] and trace in words

    def plant(self, kind, rank, seconds):
        runner, program = self.processes(rank)
        control = f"{self.folder}/fault.{rank}." + {"slow rank": "slow", "leak": "leak"}.get(kind, "none")
        filler = self.folder + "/shared/filler"
        self.plan.append({"job": self.name, "kind": kind, "rank": rank, "at": time.time()})
        if kind == "killed rank":
            os.kill(program, signal.SIGKILL)
        elif kind == "stopped rank":
            os.kill(program, signal.SIGSTOP)
        elif kind == "full folder":
            with open(filler, "wb") as file:
                free = os.statvfs(self.folder + "/shared")
                os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_bsize)
        else:
            open(control, "wb").close()
        self.hour.rest(seconds)
        if kind == "stopped rank":
            os.kill(program, signal.SIGCONT)
            os.kill(runner, signal.SIGCONT)  # it stops with its program
        elif kind == "full folder":
            os.remove(filler)
        elif kind != "killed rank":
            os.remove(control)
        self.plan[-1]["end"] = time.time()

    def run(self, source):
        """Plants one fault after another, each kind once before one comes again."""
        waiting = []
        self.start()
        self.hour.rest(60)
        while True:
            waiting = waiting or source.sample(sorted(FAULTS), len(FAULTS))
            kind, rank, seconds = waiting.pop(), source.randrange(RANKS), source.uniform(20, 60)
            settle = KILLED_S if kind == "killed rank" else SETTLE_S
            self.hour.rest(seconds)
            if time.time() + FAULTS[kind][0] + settle > self.hour.until:
                break
            if kind == "killed rank":
                self.ranks += [figures for one in range(RANKS) for figures in [self.measure(one)] if figures]
            self.plant(kind, rank, FAULTS[kind][0])
            self.hour.rest(settle)
            if kind == "killed rank":
                self.end()
                self.start()
                self.hour.rest(60)
        self.hour.rest(self.hour.until)
        self.ranks += [figures for one in range(RANKS) for figures in [self.measure(one, True)] if figures]
        self.end()


class Hour:
    def __init__(self, options, folder):
        self.folder, self.until = folder, time.time() + options.minutes * 60
        self.summarize_bytes = 0
        self.dwell = os.path.join(os.path.abspath(options.build), "dwell")
        os.mkdir(folder + "/slurm")
        self.slurm = slurm_here.Slurm(folder + "/slurm")
        with open(folder + "/rank.py", "w", encoding="utf-8") as file:
            file.write(TORCH)
        with open(folder + "/rank.c", "w", encoding="utf-8") as file:
            file.write(MPI)
        mpi_installed.compile_program("MPICH", folder + "/rank.c", os.path.abspath(options.build), folder + "/rank")
        self.jobs = [Job("gloo", [options.python, folder + "/rank.py"], [], self),
                     Job("MPI", [folder + "/rank"], ["--mpi=pmi2"], self)]

        self.prometheus = None
        if options.pictures:
            os.mkdir(folder + "/prometheus")
            self.prometheus = prometheus_here.Prometheus(folder + "/prometheus", {job.name: job.port for job in self.jobs}, 15)

    def rest(self, seconds):
        time.sleep(max(0, min(seconds, self.until - time.time())))

    def take_pictures(self, options):
        """Pictures of the graphs that Prometheus' own page draws."""
        window = browser.Browser()
        try:
            for name, query, _ in GRAPHS:
                window.open(f"{self.prometheus.address}/classic/graph?" + urllib.parse.urlencode(
                    {"g0.expr": query, "g0.tab": 0, "g0.range_input": f"{options.minutes:.0f}m"}), 1000, 900)
                if not window.wait("document.querySelector('.rickshaw_graph svg path')"):
                    sys.exit(f"Prometheus draws no graph: {window.errors()}")
                with open(os.path.join(options.pictures, name), "wb") as file:
                    file.write(page_pictures.smaller(window.page.locator(".graph_area").first.screenshot()))
        finally:
            window.close()

    def cost(self, trace):
        """What the records of a rank cost: a step, and as a part of one; and the memory that making a summary takes."""
        done = subprocess.run([self.dwell, "report", "--view", "overview", "-f", "json", trace], capture_output=True, text=True, check=False)
        if done.returncode:
            return {}
        view = json.loads(done.stdout)["views"][0]
        row = dict(zip([column["name"] for column in view["columns"]], view["rows"][0]))
        child = os.spawnv(os.P_NOWAIT, self.dwell, ["dwell", "summarize", trace, "-o", self.folder + "/one.sum"])
        self.summarize_bytes = max(self.summarize_bytes, os.wait4(child, 0)[2].ru_maxrss * 1024)
        return {"share": row["cost_share"]}


def size(path):
    return os.stat(path).st_blocks * 512


def seconds_of_cpu(pid, children=False):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15 if children else 13]) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """Resident memory of a process, with its share of what it has in common with others."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("Pss:"))


def dwell_memory(pid):
    """Resident memory of a program's mappings of dwell's libraries and of the trace, and all data of the libraries that begins as 0."""
    total, counts, libraries = 0, False, set()
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if not words[0].endswith(":"):
                counts = len(words) > 5 and "dwell" in os.path.basename(words[5])
                if counts and ".so" in words[5]:
                    libraries.add(words[5])
            elif counts and words[0] == "Rss:":
                total += int(words[1]) << 10
    sizes = subprocess.run(["size", *libraries], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    return total + sum(int(line.split()[2]) for line in sizes)


def names_rank(event, fault):
    """Whether an event has the rank of the fault. One that stops its job is named by the ranks that wait for it."""
    if fault["kind"] == "stopped rank" and event["event"] == "hang":
        return event.get("rank") == fault["rank"] or f"; rank {fault['rank']} on " in event["text"]
    return fault["kind"] == "full folder" or event.get("rank") == fault["rank"]


def judge(job):
    """Marks what names each fault, and returns the events that no fault explains."""
    false = []
    for event in job.events:
        if event["over"]:
            continue
        at = seconds_of(event["time"])
        fault = next((one for one in job.plan if one["at"] - 1 <= at <= one["end"] + (KILLED_S if one["kind"] == "killed rank" else SETTLE_S)),
                     None)
        if fault and event["event"] in FAULTS[fault["kind"]][1] and names_rank(event, fault):
            fault.setdefault("named", (max(0, at - fault["at"]), event["event"]))
        elif not fault or event["event"] not in FAULTS[fault["kind"]][1] | FOLLOWS[fault["kind"]] or event["event"] in ("slow", "memory"):
            false.append((job.name, event))
    return false


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        name = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    return f"{name}, {os.cpu_count()} cores, {os.uname().sysname} {os.uname().release}, {time.strftime('%Y-%m-%d', time.gmtime())}"


def most(ranks, what):
    return max((rank[what] for rank in ranks if rank.get(what) is not None), default=float("nan"))


def mb(count):
    return f"{count / 1e6:.1f} MB"


def cost_lines(hour):
    lines = ["", "What dwell took, of each kind the most of any rank. Asked: 0.1% of a step, 64 MB.", "",
             "| job | cost of the records, of a step | memory in the rank | memory of `dwell run` | processor time of `dwell run` and its "
             "summaries | trace | slow steps | summary |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for job in hour.jobs:
        lines.append(f"| {job.name} | {most(job.ranks, 'share'):.3%} | {mb(most(job.ranks, 'in the rank'))} | {mb(most(job.ranks, 'dwell run'))} | "
                     f"{most(job.ranks, 'cpu'):.2%} of a core | {mb(most(job.ranks, 'trace'))} | {mb(most(job.ranks, 'slow steps'))} | "
                     f"{mb(most(job.ranks, 'summary'))} |")
    load = sum(sum(rank["load"] + rank["cpu"] for rank in job.ranks[-RANKS:]) for job in hour.jobs)
    return lines + ["", f"Each {SUMMARY_S} s a summary is made, in a process that needs {mb(hour.summarize_bytes)} meanwhile. All ranks with what "
                        f"dwell adds to them took {load:.2f} of a core; a step takes {STEP_S:g} s, and other programs ran on the machine."]


def page(hour, options, false):
    plan = sorted((fault for job in hour.jobs for fault in job.plan), key=lambda fault: fault["at"])
    first = hour.until - options.minutes * 60
    lines = ["# Planted faults, and what dwell watch said", "",
             "For users who want to know how soon `dwell watch` names a fault, and what `dwell run --always` costs.", "",
             f"Written by `bench/watch_hour.py --minutes {options.minutes:g} --seed {options.seed}` ({machine()}). Two jobs of {RANKS} ranks under "
             f"Slurm on two simulated nodes, with `dwell run --always --max-size 32M --gather FOLDER`, and `dwell watch FOLDER`. A slow rank works "
             f"{SLOWER:.0%} longer; a rank that leaks takes {LEAK_BYTES_S >> 20} MB a second. A hang is one after {HANG_S} s.", "",
             "| job | fault | rank | planted at | named after | by |", "|---|---|---:|---:|---:|---|"]
    for fault in plan:
        named = fault.get("named")
        lines.append(f"| {fault['job']} | {fault['kind']} | {fault['rank']} | {fault['at'] - first:.0f} s | "
                     + (f"{named[0]:.0f} s | `{named[1]}` |" if named else "not named | |"))
    hangs = [fault for fault in plan if fault["kind"] == "stopped rank"]
    soon = sum(fault.get("named", (1e9,))[0] <= 2 * HANG_S for fault in hangs)
    lines += ["", f"{sum('named' in fault for fault in plan)} of {len(plan)} faults were named; false alarms: {len(false)}. {soon} of {len(hangs)} "
                  f"hangs were named within {2 * HANG_S} s, twice the limit, with the rank that did not come."]
    lines += [f"- {job}: {event['time']} `{event['event']}`, rank {event.get('rank', '-')}: {event['text']}" for job, event in false]
    lines += cost_lines(hour)
    if options.pictures:
        lines += ["", "## Graphs of Prometheus", "", f"A Prometheus read what `dwell watch --port` served for each job during these "
                  f"{options.minutes:g} minutes, and its own page drew it."]
        lines += [line for name, query, seen in GRAPHS for line in ("", f"{seen} `{query}`", "", f"![{seen}](../pictures/{name})")]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("python")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to")
    parser.add_argument("--pictures")
    options = parser.parse_args()
    missing = slurm_here.missing() or options.pictures and (prometheus_here.missing() or browser.lack())
    if missing:
        sys.exit(missing)
    folder = tempfile.mkdtemp(prefix="dwell-hour-")
    os.chmod(folder, 0o755)
    os.nice(5)
    hour = Hour(options, folder)
    try:
        if not hour.slurm.start():
            sys.exit("Slurm does not start: " + hour.slurm.log())
        threads = [threading.Thread(target=job.run, args=[random.Random(f"{options.seed} {job.name}")]) for job in hour.jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if hour.prometheus:
            hour.take_pictures(options)
    finally:
        hour.slurm.stop()
        if hour.prometheus:
            hour.prometheus.stop()
        for job in hour.jobs:
            subprocess.run(["umount", job.folder + "/shared"], check=False)
    text = page(hour, options, [one for job in hour.jobs for one in judge(job)])
    print(text)
    if options.to:
        with open(options.to, "w", encoding="utf-8") as file:
            file.write(text)
    shutil.rmtree(folder)


main()
