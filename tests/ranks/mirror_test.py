#!/usr/bin/env python3
"""examples/ssh/mirror.sh: two hosts that share no folder, each with an sshd of its own; watch, capture and ranks of what it copies.

usage: mirror_test.py BUILD        last line: N passed, N failed, N skipped

Needs root and Debian's packages openssh-server and rsync. The hosts are namespaces of this machine: another host name, and a
file system of their own at the job's folder. Ranks run where their sshd does.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import slurm_here

BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
SOURCES = os.path.dirname(os.path.abspath(__file__))
MIRROR = os.path.join(SOURCES, "../../examples/ssh/mirror.sh")
HOSTS = ("left", "right")
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, good):
    counts["passed" if good else "failed"] += 1
    if not good:
        print("FAILED", what)


def wait_for(what, found, seconds=120):
    until = time.monotonic() + seconds
    while not found() and time.monotonic() < until:
        time.sleep(0.3)
    check(what, found())


def missing():
    if not shutil.which("rsync") or not os.path.exists("/usr/sbin/sshd"):
        return "Debian's packages openssh-server and rsync"
    if os.getuid() or subprocess.run(["unshare", "--uts", "--mount", "true"], capture_output=True, check=False).returncode:
        return "root, and namespaces (unshare)"
    return None


class Hosts:
    """Two hosts. Their sshd are child processes."""

    def __init__(self, folder):
        self.job, self.servers = os.path.join(folder, "job"), {}
        os.mkdir(self.job)
        os.makedirs("/run/sshd", exist_ok=True)
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{key}"], check=True)
        self.config = f"{folder}/config"
        with open(self.config, "w", encoding="utf-8") as file:
            for name, port in zip(HOSTS, slurm_here.free_ports(len(HOSTS))):
                file.write(f"Host {name}\n HostName 127.0.0.1\n Port {port}\n IdentityFile {folder}/user\n IdentitiesOnly yes\n"
                           f" StrictHostKeyChecking no\n UserKnownHostsFile {folder}/known\n LogLevel ERROR\n")
                self.servers[name] = subprocess.Popen(
                    ["unshare", "--uts", "--mount", "sh", "-c",
                     f'hostname {name} && mount -t tmpfs tmpfs {self.job} && exec /usr/sbin/sshd -D -f /dev/null -p {port} '
                     f'-h {folder}/host -o AuthorizedKeysFile={folder}/user.pub -o StrictModes=no -o PidFile=none -o UsePAM=no'],
                    stderr=subprocess.DEVNULL)
        for name in HOSTS:
            wait_for(f"sshd of {name}", lambda name=name: self.run(name, "true").returncode == 0, 30)

    def command(self, name, command):
        return ["ssh", "-F", self.config, name, f"cd {self.job} && {command}"]

    def run(self, name, command):
        return subprocess.run(self.command(name, command), capture_output=True, text=True, check=False, timeout=60)

    def rank(self, number, program):
        return subprocess.Popen(self.command(HOSTS[number], f"RANK={number} WORLD_SIZE=2 {DWELL} run --sample off --summary-every 1s "
                                                            f"-o {self.job}/job{number}.dwell -- {program} {number}"),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def reach(self, name, may):
        """Makes a host unknown, or known again."""
        with open(self.config, encoding="utf-8") as file:
            before, _, after = file.read().partition(f"Host {name}\n")
        place, other = ("nowhere.invalid", "127.0.0.1") if may else ("127.0.0.1", "nowhere.invalid")
        after = after.replace(f" HostName {place}\n", f" HostName {other}\n", 1)
        with open(self.config + ".new", "w", encoding="utf-8") as file:
            file.write(f"{before}Host {name}\n{after}")
        os.replace(self.config + ".new", self.config)

    def stop(self):
        for server in self.servers.values():
            server.terminate()
            server.wait()


def test_capture(here):
    done = subprocess.run([DWELL, "capture", "--steps", "5", *here], capture_output=True, text=True, check=False, timeout=120)
    check(f"capture: {done.stdout}{done.stderr}", done.returncode == 0 and done.stdout.count(": steps ") == 2)
    for line in done.stdout.splitlines():
        report = subprocess.run([DWELL, "report", line.split(" in ")[1]], capture_output=True, text=True, check=False)
        check(f"the trace of {line}: {report.stdout}", report.returncode == 0 and "5 steps" in report.stdout)
    done = subprocess.run([DWELL, "capture", "--stacks", *here], capture_output=True, text=True, check=False, timeout=120)
    check(f"stacks: {done.stdout}{done.stderr}", done.returncode == 0 and done.stdout.count("\n== ") + done.stdout.startswith("== ") == 2)


def test_job(hosts, program, here):
    ranks = [hosts.rank(number, program) for number in range(2)]
    with open("mirror.log", "wb") as log:
        mirror = subprocess.Popen([MIRROR, hosts.job, "here", *HOSTS], stdout=log, stderr=log, env={**os.environ, "VIA": f"ssh -F {hosts.config}", "EVERY": "1"})
    wait_for("summaries of both hosts", lambda: all(os.path.exists(f"{folder}/job{number}.dwell.sum") for number, folder in enumerate(here)))
    with open("events", "wb") as file:
        watch = subprocess.Popen([DWELL, "watch", "--every", "1s", "-f", "json", *here], stdout=file)

    def event(kind, rank):
        with open("events", encoding="utf-8") as file:
            return [one for one in map(json.loads, file) if (one["event"], one.get("rank")) == (kind, rank)]

    compared = subprocess.run([DWELL, "ranks", *(f"{folder}/job{number}.dwell.sum" for number, folder in enumerate(here))],
                              capture_output=True, text=True, check=False)
    check(f"ranks: {compared.stdout}{compared.stderr}", all(name in compared.stdout for name in HOSTS))
    test_capture(here)
    wait_for("requests and answers are removed", lambda: hosts.run("left", "ls").stdout.split() == ["job0.dwell", "job0.dwell.sum"])
    hosts.run("left", "touch hang")
    wait_for("the hang of one host", lambda: event("hang", 0))
    check("the other one does not hang", not event("hang", 1))
    hosts.run("left", "rm hang")
    hosts.reach("right", False)
    wait_for("the host that cannot be reached", lambda: event("lost", 1))
    hosts.reach("right", True)
    wait_for("it is reached again", lambda: [one for one in event("lost", 1) if one["over"]])
    for name in HOSTS:
        hosts.run(name, "touch end")
    for process in (*ranks, watch):
        process.wait(timeout=60)
    check("the watch ends with the job, without an event", watch.returncode == 0)
    mirror.terminate()
    mirror.wait()


def main():
    if missing():
        print(f"skipped: {missing()}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    folder = tempfile.mkdtemp(prefix="dwell-mirror-")
    os.chdir(folder)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-D_GNU_SOURCE", "-I", os.path.join(SOURCES, "../../include"),
                    os.path.join(SOURCES, "watch_program.c"), "-o", "program", "-L", BUILD, "-Xlinker", f"-rpath={BUILD}", "-ldwell"], check=True)
    hosts = Hosts(folder)
    try:
        test_job(hosts, f"{folder}/program", [f"here/{name}" for name in HOSTS])
    finally:
        hosts.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


sys.exit(main())
