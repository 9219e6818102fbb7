#!/usr/bin/env python3
"""How long dwell takes to compare many ranks: of traces, with several processes of MPI, and of summaries.

usage: ranks.py BUILD FOLDER make TRACE [RANKS]    makes traces of 10 MB each in FOLDER, like those of TRACE
       ranks.py BUILD FOLDER ranks [RANKS...]      compares so many ranks, in one process and on all cores
       ranks.py BUILD FOLDER mpi [RANKS [ROUNDS]]  one MPI process and two, in turns
       ranks.py BUILD FOLDER summaries TRACE [COUNT]  makes summaries like that of a rank of TRACE, and compares
                                                   them
       ranks.py BUILD FOLDER cluster [RANKS [STEPS]]  simulates a cluster (10000 ranks, 1000000 steps) with a slow host:
                                                   merges and compares its summaries, and watches them for a minute
                                                   while each is written again every 30 s
       ranks.py BUILD FOLDER captures [RANKS]      runs ranks (256) with steps of 200 ms on this machine, and captures two
                                                   steps of each

TRACE is of several ranks, such as those of examples/pytorch/ddp_ranks.py. Files are locked in the page cache
while they are measured, or, if the user may not lock memory, read before. Each line has the time, the processor time of all processes,
the memory of the largest one, faults that read from the disk, and which share of the processors other programs
used meanwhile: a line with more than some percent of that, or with such faults, measures those too.
"""
import ctypes
import glob
import mmap
import os
import shutil
import statistics
import subprocess
import sys
import time

ready, alive = os.pipe(), os.pipe()
INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../include")
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n"]


def busy_seconds():
    """Of all processors together, since the machine started."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(field) for field in file.readline().split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def measure(what, command, quiet=False):
    """Runs a command, prints a line and returns the seconds that it took."""
    busy, began = busy_seconds(), time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=dict(os.environ, OMPI_MCA_btl_vader_single_copy_mechanism="none")) as process:
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - began
    used = usage.ru_utime + usage.ru_stime
    others = max(0, busy_seconds() - busy - used) / took / os.cpu_count()
    if process.returncode:
        sys.exit(f"{command[0]}: exit status {process.returncode}: {said.decode()}")
    if not quiet:
        print(f"{what:34} {took:6.2f} s  processors {used:6.2f} s  {usage.ru_maxrss >> 10:4} MB  "
              f"faults {usage.ru_majflt:4}  others {others:5.1%}", flush=True)
    return took


def hold(files):
    """Reads files, so that they are in the page cache, and locks them there until this program ends."""
    if os.fork() == 0:  # the holder: what is locked must not count as memory of what is measured
        try:
            lock(files)
            said = b"locked"
        except OSError as error:
            said = str(error).encode()
        os.write(ready[1], said)
        os.close(alive[1])
        os.read(alive[0], 1)  # until the program that measures has ended
        os._exit(0)
    said = os.read(ready[0], 1000).decode()
    if said != "locked":
        sys.exit(said)


def lock(files):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    for path in files:
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass
            length = ctypes.c_size_t(os.path.getsize(path))
            at = libc.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), ctypes.c_long(0))
            if at != ctypes.c_void_p(-1).value:
                libc.mlock(ctypes.c_void_p(at), length)


def traces(folder, count):
    files = sorted(glob.glob(os.path.join(folder, "rank-*.dwell")))[:count]
    if len(files) < count:
        sys.exit(f"{folder} has {len(files)} traces instead of {count}: make them first")
    hold(files)
    return files


def make(build, folder, trace, ranks="1024"):
    os.makedirs(folder, exist_ok=True)
    subprocess.run([os.path.join(build, "tests/ranks/make_ranks"), folder, ranks, "2080", "like", trace, "collectives",
                    "1052672", "slow", str(int(ranks) * 2 // 5), "forward", "20", "hosts", "8"], check=True)
    size = sum(os.path.getsize(path) for path in traces(folder, int(ranks)))
    print(f"{ranks} traces of {size / int(ranks) / 1e6:.1f} MB")


def ranks(build, folder, *counts):
    dwell = os.path.join(build, "dwell")
    for count in counts or ("64", "256", "1024"):
        files = traces(folder, int(count))
        measure(f"{count} ranks, one processor", ["taskset", "-c", "0", dwell, "ranks", *files])
        measure(f"{count} ranks, all processors", [dwell, "ranks", *files])


def mpi(build, folder, count="64", rounds="5"):
    files, took = traces(folder, int(count)), ([], [])
    for _ in range(int(rounds)):
        for processes in (1, 2):
            took[processes - 1].append(measure(
                f"{count} ranks, {processes} of MPI",
                [*MPIRUN, str(processes), os.path.join(build, "dwell"), "ranks", "--mpi", *files]))
    ratios = sorted(one / two for one, two in zip(*took))
    print(f"medians {statistics.median(took[0]):.2f} s and {statistics.median(took[1]):.2f} s; of the pairs two "
          f"processes are {statistics.median(ratios):.2f} times as fast ({ratios[0]:.2f} to {ratios[-1]:.2f})")


def summaries(build, folder, trace, count="100000"):
    dwell, many = os.path.join(build, "dwell"), os.path.join(folder, "summaries")
    if not os.path.isdir(many):
        subprocess.run([dwell, "summarize", trace, "-o", many + ".sum"], check=True)
        os.mkdir(many)
        subprocess.run([os.path.join(build, "tests/ranks/copy_summaries"), many + ".sum", many, count], check=True)
    os.chdir(many)
    files = sorted(os.listdir("."))
    for name in files:
        with open(name, "rb") as file:
            file.read()
    measure(f"{len(files)} summaries, one processor", ["taskset", "-c", "0", dwell, "ranks", *files])
    measure(f"{len(files)} summaries, all processors", [dwell, "ranks", *files])


CAPTURED = """#include <dwell/probe.h>
#include <unistd.h>
int main(void)
{
	while (access("end", F_OK)) {
		DWELL_STEP();
		DWELL_PHASE("forward");
		usleep(200000);
	}
	return 0;
}
"""


def captures(build, folder, count="256"):
    dwell, job = os.path.join(build, "dwell"), os.path.join(folder, "job")
    shutil.rmtree(job, ignore_errors=True)
    os.makedirs(job)
    os.chdir(folder)
    with open("captured.c", "w", encoding="utf-8") as file:
        file.write(CAPTURED)
    subprocess.run(["cc", "-D_GNU_SOURCE", "-I", INCLUDE, "captured.c", "-o", "captured",
                    "-L", build, "-Xlinker", f"-rpath={build}", "-ldwell"], check=True)
    ranks_of_job = [subprocess.Popen([dwell, "run", "--sample", "off", "--max-size", "8M", "--summary-every", "60s", "-o", f"{job}/{rank}.dwell", "--",
                                      "./captured"], stderr=subprocess.DEVNULL, env={**os.environ, "RANK": str(rank), "WORLD_SIZE": count})
                    for rank in range(int(count))]
    try:
        while len(glob.glob(job + "/*.sum")) < int(count):
            time.sleep(1)
        time.sleep(10)
        took = measure(f"a capture of {count} ranks", [dwell, "capture", "--steps", "2", job])
        print(f"capture: {count} ranks answered in {took:.2f} s")
    finally:
        open("end", "w", encoding="utf-8").close()
        for process in ranks_of_job:
            process.wait()
        os.remove("end")
        shutil.rmtree(job)


def cluster(build, folder, count="10000", steps="1000000"):
    dwell, many, merged = os.path.join(build, "dwell"), os.path.join(folder, "cluster"), os.path.join(folder, "cluster.sum")
    if not os.path.isdir(many):
        os.makedirs(many)
        subprocess.run([os.path.join(build, "tests/ranks/make_summaries"), many, count, steps, "slow-host", "63", "12"], check=True)
    files = sorted(os.path.join(many, name) for name in os.listdir(many))
    for name in files:
        with open(name, "rb") as file:
            file.read()
    measure(f"{len(files)} summaries into one", [dwell, "summarize", *files, "-o", merged])
    measure(f"{len(files)} summaries compared", [dwell, "ranks", *files])
    measure("the merged summary compared", [dwell, "ranks", merged])
    measure("the first look of dwell watch", [dwell, "watch", "--once", many])
    watched(dwell, many, files)
    print(subprocess.run([dwell, "ranks", merged], capture_output=True, text=True, check=True).stdout)


def watched(dwell, folder, files, seconds=60, every=30, look=5):
    """The processor time of dwell watch after its first look, in which it reads all files."""
    with subprocess.Popen([dwell, "watch", folder], stdout=subprocess.DEVNULL) as watch:
        def used():
            with open(f"/proc/{watch.pid}/stat", encoding="ascii") as file:
                return sum(int(field) for field in file.read().rsplit(")", 1)[1].split()[11:13]) / os.sysconf("SC_CLK_TCK")
        time.sleep(5)
        before, began, at = used(), time.monotonic(), 0
        while time.monotonic() - began < seconds:
            for _ in range(len(files) * look // every):
                os.utime(files[at % len(files)])
                at += 1
            time.sleep(max(0, look - (time.monotonic() - began) % look))
        took, spent = time.monotonic() - began, used() - before
        watch.terminate()
    print(f"dwell watch, {at} files written in {took:.0f} s: {spent:.2f} s of a processor, {spent / took:.2%} of a core")


def main(arguments):
    parts = {"make": make, "ranks": ranks, "mpi": mpi, "summaries": summaries, "cluster": cluster, "captures": captures}
    if len(arguments) < 3 or arguments[2] not in parts:
        sys.exit(__doc__)
    if arguments[2] == "mpi" and not shutil.which("mpirun"):
        sys.exit("mpirun is missing: Debian's package openmpi-bin")
    parts[arguments[2]](os.path.abspath(arguments[0]), os.path.abspath(arguments[1]), *arguments[3:])


main(sys.argv[1:])
