#!/usr/bin/env python3
"""mpirun over two hosts, each with a network, host name, shared memory and local folder of its own: ranks, hosts, waits, watch.

usage: netns_test.py BUILD        last line: N passed, N failed, N skipped

Needs root, Open MPI and Debian's package iproute2. The hosts are namespaces of this machine; a pair of veth joins their networks,
and mpirun reaches the second one by nsenter where it would use ssh. The kernel removes a host with its process. Not with
MPICH 4.0: over TCP any of its programs may wait for ever in MPI_Finalize (github.com/pmodels/mpich/pull/6596).
"""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import mpi_installed

sys.path.insert(0, os.path.join(mpi_installed.ROOT, "tests/probes"))
import again  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
HOSTS = {"left": "10.77.0.1", "right": "10.77.0.2"}
NAMESPACES = ("--uts", "--mount", "--net", "--ipc")
STEPS, SLOW, SLOW_MS, BYTES = 120, 2, 20, 4096 * 4  # of examples/mpi_ranks.c


def missing():
    if not shutil.which("ip") or not shutil.which("nsenter"):
        return "ip or nsenter is missing: Debian's packages iproute2, util-linux"
    if os.getuid():
        return "hosts of their own need root"
    script = "ip link add net0 type veth peer name net1 && mount -t sysfs sysfs /sys && mount -t tmpfs tmpfs /dev/shm"
    done = subprocess.run(["unshare", *NAMESPACES, "sh", "-c", script], capture_output=True, text=True, check=False)
    return f"no host with a network of its own can be made here: {done.stderr.strip()}" if done.returncode else None


class Hosts:
    """Two hosts. Each lives as long as its process, which ends with this one."""

    def __init__(self, folder):
        self.local, self.agent, self.processes = os.path.join(folder, "local"), os.path.join(folder, "agent"), {}
        os.mkdir(self.local)
        with open(f"{folder}/hosts", "w", encoding="utf-8") as file:
            file.write("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in HOSTS.items()))
        for name in HOSTS:
            script = (f"hostname {name} && mount --bind {folder}/hosts /etc/hosts && mount -t tmpfs tmpfs {self.local} && "
                      "mount -t tmpfs tmpfs /dev/shm && mount -t sysfs sysfs /sys && ip link set lo up && echo made && exec cat")
            self.processes[name] = subprocess.Popen(["unshare", *NAMESPACES, "sh", "-c", script], stdin=subprocess.PIPE,
                                                    stdout=subprocess.PIPE, text=True)
            if self.processes[name].stdout.readline() != "made\n":
                raise AssertionError(f"the host {name} cannot be made")
        # Like ssh: the words are one line for a shell, which has few of the variables of the caller.
        with open(self.agent, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\ncase $1 in\n' + "".join(f"{name}) pid={process.pid} ;;\n" for name, process in self.processes.items()) +
                       f'esac\nshift\nexec nsenter --target "$pid" {" ".join(NAMESPACES)} env -i PATH="$PATH" sh -c "$*"\n')
        os.chmod(self.agent, 0o755)
        self.run("left", f"ip link add net0 type veth peer name net0 netns {self.processes['right'].pid}")
        for name, address in HOSTS.items():
            self.run(name, f"ip address add {address}/24 dev net0 && ip link set net0 up")
        for name in HOSTS:  # the kernel says it up to a second later
            self.run(name, "until grep -q up /sys/class/net/net0/operstate; do sleep .1; done")

    def run(self, name, command):
        return subprocess.run([self.agent, name, command], capture_output=True, text=True, check=True, timeout=60).stdout

    def start(self, name, *words, **variables):
        """A process that is started by hand on a host."""
        return subprocess.Popen(["nsenter", "--target", str(self.processes[name].pid), *NAMESPACES, *words], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, env={**os.environ, **variables})

    def bytes_sent(self, name):
        return int(self.run(name, "cat /sys/class/net/net0/statistics/tx_bytes"))

    def stop(self):
        for process in self.processes.values():
            process.communicate(timeout=60)


def dwell(*words):
    done = subprocess.run([DWELL, *words], capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise AssertionError(f"{words}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class Job(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        why = missing() or mpi_installed.missing("Open MPI")
        if why:
            raise unittest.SkipTest(why)
        folder = tempfile.TemporaryDirectory(prefix="dwell-netns-")
        cls.addClassCleanup(folder.cleanup)
        cls.home, cls.program = folder.name, os.path.join(folder.name, "mpi_ranks")
        mpi_installed.compile_program("Open MPI", os.path.join(mpi_installed.ROOT, "examples/mpi_ranks.c"), BUILD, cls.program)
        cls.hosts = Hosts(folder.name)
        cls.addClassCleanup(cls.hosts.stop)

    def start(self, ranks, *words):
        """mpirun on the host "left"."""
        job = self.hosts.start("left", *mpi_installed.launcher("Open MPI"), "--mca", "plm_rsh_agent", self.hosts.agent, "--host",
                               ",".join(f"{name}:2" for name in HOSTS), "--map-by", f"ppr:{ranks}:node", *words,
                               OMPI_MCA_btl_vader_single_copy_mechanism="none")
        self.addCleanup(self.end, job)
        return job

    @staticmethod
    def end(job):
        if job.poll() is None:
            job.terminate()
        job.communicate(timeout=60)

    def start_ranks(self):
        self.shared = tempfile.mkdtemp(dir=self.home)
        command = (f"exec {shlex.quote(DWELL)} run -o {self.hosts.local}/job.$OMPI_COMM_WORLD_RANK.dwell --summary-every 1s "
                   f"--gather {self.shared} -- {self.program} {STEPS} data {SLOW} {SLOW_MS}")
        return self.start(2, "sh", "-c", command)

    def check_figures(self, path):
        with open(path, encoding="utf-8") as file:
            ranks = re.findall(r'dwell_steps_total{run="[^"]*",rank="(\d)",host="([^"]*)"}', file.read())
        self.assertEqual(sorted(ranks), [("0", "left"), ("1", "left"), ("2", "right"), ("3", "right")])

    def check_watch(self):
        self.assertEqual(dwell("watch", "--once", "--metrics", f"{self.shared}/figures", self.shared), "")
        self.check_figures(f"{self.shared}/figures")
        # Each host has summaries of its own ranks at the same path.
        self.assertEqual([self.hosts.run(name, f"cd {self.hosts.local} && echo *.sum").split() for name in HOSTS],
                         [[f"job.{rank}.dwell.sum" for rank in ranks] for ranks in ((0, 1), (2, 3))])
        watch = self.start(1, DWELL, "watch", "--mpi", "--once", "--metrics", f"{self.shared}/by-mpi", self.hosts.local)
        said = watch.communicate(timeout=60)[0]
        self.assertEqual((watch.returncode, re.findall(r"^20.*", said, re.M)), (0, []), said)
        self.check_figures(f"{self.shared}/by-mpi")

    def record(self):
        """What the slow rank slept for in a step, and the tables of the traces, after the job was watched and has ended."""
        job = self.start_ranks()
        until = time.monotonic() + 60
        while len(glob.glob(f"{self.shared}/*.sum")) < 4 and job.poll() is None and time.monotonic() < until:
            time.sleep(.1)
        if job.poll() is not None:
            self.fail(job.communicate()[0])
        self.check_watch()
        said = job.communicate(timeout=120)[0]
        self.assertEqual(job.returncode, 0, said)
        traces = [f"{self.shared}/job.{rank}.dwell" for rank in range(4)]
        self.assertEqual(sorted(glob.glob(f"{self.shared}/job*")), sorted(traces + [trace + ".sum" for trace in traces]), said)
        self.assertEqual([self.hosts.run(name, f"ls {self.hosts.local}") for name in HOSTS], ["", ""])
        for trace in traces:
            self.assertEqual(dwell("report", "--view", "steps", "-f", "csv", trace).count("\n"), STEPS + 1)
        tables = self.tables(traces)
        self.assertEqual(self.tables(trace + ".sum" for trace in traces), tables)
        return int(re.search(rf"planted {SLOW} (\d+)", said)[1]) / STEPS, tables

    @staticmethod
    def tables(files):
        return {view["part"]: [dict(zip([column["name"] for column in view["columns"]], row)) for row in view["rows"]]
                for view in json.loads(dwell("ranks", "-f", "json", *files))["views"]}

    @staticmethod
    def is_named(found):
        planted_ns, tables = found
        rows = [row for row in tables["ranks"] if row["slow"]]
        return len(rows) == 1 and (rows[0]["rank"], rows[0]["part"]) == (SLOW, "data") and abs(rows[0]["part_excess_ns"] / planted_ns - 1) < .1

    def test_two_hosts(self):
        planted_ns, tables = found = again.until(self.is_named, self.record)
        self.assertTrue(self.is_named(found), found)
        self.assertEqual([(row["rank"], row["host"]) for row in tables["ranks"]], [(0, "left"), (1, "left"), (2, "right"), (3, "right")])
        self.assertEqual([row["wait_ns"] > planted_ns / 2 for row in tables["ranks"]], [rank != SLOW for rank in range(4)])
        row = next(row for row in tables["collectives"] if row["operation"] == "MPI_Allreduce")
        self.assertEqual((row["ranks"], row["count"], row["bytes"], row["last_rank"]), (4, STEPS, BYTES, SLOW))
        self.assertGreater(row["wait_ns"], planted_ns / 2)
        # The gradients went through the network.
        for name in HOSTS:
            self.assertGreater(self.hosts.bytes_sent(name), STEPS * BYTES)


if __name__ == "__main__":
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    for test, why in result.skipped:
        print(f"skip {test.id()}: {why}")
    failed = len(result.failures) + len(result.errors)
    print(f"{max(0, result.testsRun - failed - len(result.skipped))} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
