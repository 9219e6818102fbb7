#!/usr/bin/env python3
"""dwell watch: two ranks that run, hang, go on and are killed; its figures in a real Prometheus, with alerts.

usage: watch_test.py BUILD        last line: N passed, N failed, N skipped

With Debian's package prometheus; without it what needs it is skipped.
"""
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import mpi_installed
import prometheus_here
from prometheus_here import get

BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
SOURCES = os.path.dirname(os.path.abspath(__file__))
ALERTS = os.path.join(SOURCES, "../../examples/prometheus/alerts.yml")
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, good):
    counts["passed" if good else "failed"] += 1
    if not good:
        print("FAILED", what)


def wait_for(what, found, seconds=120):
    """The first true answer of found(), or None after so many seconds, which is a failure."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        answer = found()
        if answer:
            check(what, True)
            return answer
        time.sleep(0.3)
    check(what, False)
    return None


def events():
    with open("events", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def event(kind, rank, over=False):
    return [one for one in events() if (one["event"], one.get("rank"), one["over"]) == (kind, rank, over)]


def start_rank(number, *options, folder="."):
    return subprocess.Popen([DWELL, "run", "--sample", "off", *(options or ["--summary-every", "1s"]), "-o", f"{folder}/rank{number}.dwell", "--",
                             "../program", str(number)], stderr=subprocess.DEVNULL,
                            env={**os.environ, "RANK": str(number), "WORLD_SIZE": "2"})


def start_watch():
    with open("events", "w", encoding="utf-8") as file:
        watch = subprocess.Popen([DWELL, "watch", "--every", "1s", "-f", "json", "--metrics", "figures", "--port", "0",
                                  "--on", "hang=echo $DWELL_RANKS, $DWELL_PIDS, $DWELL_TEXT >> hung", "."],
                                 stdout=file, stderr=subprocess.PIPE, text=True)
    line = watch.stderr.readline()
    return watch, line.split("127.0.0.1:")[1].split("/")[0]


def test_files(port):
    with open("figures", encoding="utf-8") as file:
        figures = file.read()
    for rank in "01":
        check("steps of a rank", f'dwell_steps_total{{run="",rank="{rank}",host="{os.uname().nodename}"}}' in figures)
    served = get(f"http://127.0.0.1:{port}/metrics")
    check("the port serves the same names", {line.split("{")[0] for line in served.splitlines()} ==
          {line.split("{")[0] for line in figures.splitlines()})
    silent = [socket.create_connection(("127.0.0.1", int(port))) for _ in range(100)]
    began = time.monotonic()
    served = get(f"http://127.0.0.1:{port}/metrics")
    # One after the other each of them would have its two seconds.
    check("clients that say nothing keep no other from its answer", served and time.monotonic() - began < 60)
    for one in silent:
        one.close()
    check("nothing else is served", get(f"http://127.0.0.1:{port}/") == "")
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=figures, capture_output=True, text=True, check=False)
        check(f"promtool: {done.stderr}", done.returncode == 0 and not done.stderr)
        rules = subprocess.run(["promtool", "test", "rules", "alerts_test.yml"], cwd=os.path.dirname(ALERTS),
                               capture_output=True, text=True, check=False)
        check(f"the alert rules: {rules.stdout}", rules.returncode == 0)


def test_job(alive, watch, prometheus):
    open("hang", "w", encoding="utf-8").close()
    wait_for("both ranks hang", lambda: event("hang", 0) and event("hang", 1))
    check("what they are in", all("in all_reduce" in event("hang", rank)[0]["text"] for rank in (0, 1)))
    hung = wait_for("the user's command", lambda: os.path.exists("hung") and open("hung", encoding="utf-8").read())
    check(f"what the command gets: {hung}", hung and hung.count(",") >= 2 and "no step ended for" in hung)
    if prometheus:
        wait_for("an alert of Prometheus", lambda: prometheus.count('ALERTS{alertname="RankHangs",alertstate="firing"}'))
    os.remove("hang")
    wait_for("both go on", lambda: event("hang", 0, True) and event("hang", 1, True))
    once = subprocess.run([DWELL, "watch", "--once", "."], capture_output=True, text=True, check=False)
    check(f"--once: {once.stdout}{once.stderr}", once.returncode == 0 and not once.stdout and
          re.search(r"2 ranks, \d+ steps, all well", once.stderr))
    pid = event("hang", 1)[0]["pid"]
    os.kill(pid, signal.SIGKILL)
    lost = wait_for("a rank is lost", lambda: event("lost", 1))
    check(f"how it ended: {lost}", lost and ", by signal 9 (Killed)" in lost[0]["text"])
    open("end", "w", encoding="utf-8").close()
    check("the watch ends with the job, and its status says what was left", watch.wait(timeout=120) == 5)
    for rank in alive:
        rank.wait(timeout=60)
    compared = subprocess.run([DWELL, "ranks", "rank0.dwell.sum", "rank1.dwell.sum"], capture_output=True, text=True, check=False).stdout
    check(f"dwell ranks says how it ended: {compared}", "Rank 1 ended within step" in compared and ", by signal 9 (Killed)." in compared)


def test_long_work(name):
    """Work between steps that takes longer than the limit of a hang is none: ranks that evaluate, one that writes a checkpoint
    while another one waits."""
    open(name, "w", encoding="utf-8").close()
    began = time.time()
    wait_for(f"{name}: summaries while no step ends", lambda: all(at > began + 10 for at in written()))
    time.sleep(3)
    check(f"{name} is no hang: {events()}", not [one for one in events() if one["event"] == "hang"])
    os.remove(name)
    wait_for(f"steps after {name}", lambda: step_count("rank0.dwell"))
    time.sleep(3)  # so that the next summary is one of no steps


def written():
    return [os.stat(f"rank{number}.dwell.sum").st_mtime if os.path.exists(f"rank{number}.dwell.sum") else 0 for number in range(2)]


def stacks_of_hang():
    """What the watch wrote when the first rank hung."""
    return "".join(open(name, encoding="utf-8").read() for name in glob.glob("hang-*.txt"))


def test_rare_summaries():
    """A hang is reported in time, and once, also where summaries are rare."""
    ranks = [start_rank(0, "--always"), start_rank(1, "--summary-every", "10m")]
    wait_for("steps", lambda: all(step_count(f"rank{number}.dwell") > 5 for number in range(2)))
    time.sleep(3)
    with open("events", "w", encoding="utf-8") as file:
        watch = subprocess.Popen([DWELL, "watch", "--every", "1s", "-f", "json", "."], stdout=file, stderr=subprocess.DEVNULL)
    try:
        for name in ("evaluate", "save"):
            test_long_work(name)
        began = time.time()
        open("hang", "w", encoding="utf-8").close()
        wait_for("both ranks hang", lambda: event("hang", 0) and event("hang", 1), 60)
        check("where they are", all("in all_reduce" in one["text"] for one in events() if one["event"] == "hang"))
        stacks = wait_for("the stacks of both ranks", lambda: stacks_of_hang() if stacks_of_hang().count("all_reduce") >= 2 else None, 30)
        check(f"stacks are written once: {stacks}", stacks and len(glob.glob("hang-*.txt")) == 1)
        first = os.stat("rank0.dwell.sum").st_mtime
        print(f"a hang of 10 s was named after {time.time() - began:.0f} s")
        wait_for("another summary", lambda: os.stat("rank0.dwell.sum").st_mtime > first, 60)
        time.sleep(3)
        check(f"it goes on: {events()}", not [one for one in events() if one["over"] and one["event"] == "hang"])
    finally:
        open("end", "w", encoding="utf-8").close()
        os.remove("hang")
        for process in (*ranks, watch):
            process.wait(timeout=60)


def test_two_jobs():
    """A folder has the files of two jobs with the same ranks; one hangs, and the other one has longer steps."""
    jobs = []
    for job in ("first", "second"):
        os.mkdir(job)
        for number in range(2):
            jobs.append(subprocess.Popen([DWELL, "run", "--sample", "off", "--summary-every", "1s", "-o", f"../{job}{number}.dwell", "--",
                                          "../../program", str(number)], stderr=subprocess.DEVNULL, cwd=job,
                                         env={**os.environ, "RANK": str(number), "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": job}))
    for number in range(2):
        open(f"second/{number}.slow", "w", encoding="utf-8").close()
    wait_for("summaries", lambda: len([name for name in os.listdir() if name.endswith(".sum")]) == 4)
    with open("events", "w", encoding="utf-8") as file:
        watch = subprocess.Popen([DWELL, "watch", "--every", "1s", "-f", "json", "--metrics", "figures", "."], stdout=file, stderr=subprocess.PIPE)
    try:
        time.sleep(30)
        check(f"steps of another job are no measure: {events()}", not [one for one in events() if one["event"] == "slow"])
        open("first/hang", "w", encoding="utf-8").close()
        wait_for("both ranks hang", lambda: event("hang", 0) and event("hang", 1), 60)
        check(f"ranks of another job are not missing: {events()}", all(one["job"] == "first" and "no rank is elsewhere" in one["text"]
                                                                       for one in events() if one["event"] == "hang"))
        with open("figures", encoding="utf-8") as file:
            states = {line.split(",host")[0] for line in file if line.startswith("dwell_rank_state") and 'state="memory"' in line}
        check(f"states of both jobs: {states}", states == {f'dwell_rank_state{{run="{job}",rank="{rank}"' for job in ("first", "second") for rank in "01"})
    finally:
        os.remove("first/hang")
        for job in ("first", "second"):
            open(job + "/end", "w", encoding="utf-8").close()
        for process in (*jobs, watch):
            process.wait(timeout=60)


def watch_by_mpi(launcher, *options):
    """A watch of three machines, of which each has a folder, and the last one has no rank."""
    words = [word for node in range(3) for word in ([":"] if node else []) + ["-n", "1", DWELL, "watch", "--mpi", "-f", "json", *options, f"node{node}"]]
    return [*launcher, *words]


def test_mpi(name, launcher):
    """Ranks of which each writes to a folder of its own machine."""
    for node in range(3):
        os.mkdir(f"node{node}")
    os.mkdir("copies")
    environment = {**os.environ, "TMPDIR": os.getcwd() + "/copies"}
    ranks = [start_rank(node, folder=f"node{node}") for node in range(2)]
    wait_for("summaries", lambda: all(os.path.exists(f"node{node}/rank{node}.dwell.sum") for node in range(2)))
    with open("events", "w", encoding="utf-8") as file:
        watch = subprocess.Popen(watch_by_mpi(launcher, "--every", "1s", "--metrics", "figures"), stdout=file, env=environment)
    try:
        wait_for("a rank of another machine", lambda: os.path.exists("figures") and 'rank="1"' in open("figures", encoding="utf-8").read())
        open("hang", "w", encoding="utf-8").close()
        wait_for(f"{name}: both ranks hang", lambda: event("hang", 0) and event("hang", 1), 60)
        os.remove("hang")
        wait_for("both go on", lambda: event("hang", 0, True) and event("hang", 1, True))
        once = subprocess.run(watch_by_mpi(launcher, "--once"), env=environment, capture_output=True, text=True, check=False, timeout=60)
        check(f"{name}, --once: {once}", once.returncode == 0 and not once.stdout)
        os.kill(next(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and is_sender(pid)), signal.SIGSTOP)
        open("end", "w", encoding="utf-8").close()
        watch.wait(timeout=60)  # a process that stands still keeps nobody; the launcher chooses the status then
        check(f"no copy is left: {os.listdir('copies')}", not [path for path in os.listdir("copies") if path.startswith("dwell-watch")])
    finally:
        open("end", "w", encoding="utf-8").close()
        for process in (*ranks, watch):
            process.wait(timeout=60)


def is_sender(pid):
    """Whether it is the process of the last machine."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file, open(f"/proc/{pid}/comm", encoding="utf-8") as name:
            return name.read() == "dwell\n" and file.read().endswith(b"node2\0") and os.readlink(f"/proc/{pid}/cwd") == os.getcwd()
    except OSError:
        return False


def step_count(trace):
    done = subprocess.run([DWELL, "report", "--view", "steps", "-f", "csv", trace], capture_output=True, text=True, check=False)
    return done.stdout.count("\n")


def test_refused():
    for words, code, what in ((["--on", "hung=true", "."], 2, "give hang, lost, slow, memory or slower"),
                              (["--port", "99999", "."], 2, "--port 99999"), ([], 2, "no files are given"),
                              (["--once", "empty"], 1, "no summary of a rank"), (["--once", "missing.sum"], 1, "missing.sum"),
                              (["--mpi", "empty", "job"], 2, "give one folder")):
        done = subprocess.run([DWELL, "watch", *words], capture_output=True, text=True, check=False)
        check(f"{words}: {done.returncode} {done.stderr}", done.returncode == code and what in done.stderr)


def main():
    folder = tempfile.mkdtemp(prefix="dwell-watch-")
    os.chdir(folder)
    for name in ("empty", "job", "rare", "two"):
        os.mkdir(name)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-D_GNU_SOURCE", "-I", os.path.join(SOURCES, "../../include"),
                    os.path.join(SOURCES, "watch_program.c"), "-o", "program", "-L", BUILD, "-Xlinker", f"-rpath={BUILD}",
                    "-ldwell"], check=True)
    test_refused()
    os.chdir("rare")
    test_rare_summaries()
    for name in mpi_installed.IMPLEMENTATIONS:
        if mpi_installed.launcher(name):
            os.mkdir("../" + name)
            os.chdir("../" + name)
            test_mpi(name, mpi_installed.launcher(name))
        else:
            print("skip:", mpi_installed.missing(name))
            counts["skipped"] += 1
    os.chdir("../two")
    test_two_jobs()
    os.chdir("../job")
    started = [start_rank(number) for number in range(2)]
    watch, port = start_watch()
    prometheus = None if prometheus_here.missing() else prometheus_here.Prometheus(os.getcwd(), {"dwell": port}, 1, [ALERTS])
    try:
        wait_for("figures of both ranks", lambda: get(f"http://127.0.0.1:{port}/metrics").count("dwell_steps_total{") == 2)
        test_files(port)
        if prometheus:
            check("Prometheus listens", prometheus.address)
            wait_for("Prometheus has them", lambda: prometheus.count("dwell_steps_total") == 2)
        else:
            print("skip:", prometheus_here.missing())
            counts["skipped"] += 1
        test_job(started, watch, prometheus)
    finally:
        for process in (*started, watch):
            if process.poll() is None:
                process.kill()
        if prometheus:
            prometheus.stop()
    shutil.rmtree(folder)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return counts["failed"] > 0


sys.exit(main())
