#!/usr/bin/env python3
"""Call stacks of any program: shares of known functions, waits, frames of Python, and programs that must not notice.

usage: sampler_test.py BUILD      last line: N passed, N failed

Frames of Python are tested with the interpreter that runs the test, and with each python3.9 to python3.15 on PATH.
"""
import functools
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import again

BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "sampler_program.c")
REACH = os.path.join(HERE, "sampler_reach.c")

LOOP = """
def inner(): sum(range(20000))
def outer(): return [inner() for _ in range(10)]
print("ready", flush=True)
while True: outer()
"""
SCRIPT = """
import json, threading
def text(count):
    for i in range(count):
        json.loads(json.dumps({"values": list(range(300))}))
def plain(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total
def pairs(count):
    for i in range(count):
        yield i * 2
class Sum:
    def __init__(self, count):
        self.sum = sum(pairs(count))
def work():
    for i in range(15):
        text(120)
        plain(100000)
        for i in range(20): Sum(10000)
thread = threading.Thread(target=work)
thread.start()
work()
thread.join()
"""

# Functions whose code is freed, and whose memory is used again for the next one.
FREED = """
first, called = None, 0
for i in range(3000):
    space = {}
    exec(compile(f"def f{i}():\\n    return sum(range(1600000))\\n", f"made{i}", "exec"), space)
    place = id(space[f"f{i}"].__code__)
    first = first or place
    if place == first and called < 12:
        space[f"f{i}"]()
        called += 1
    del space
print(called)
"""


checks = again.Checks()
check = checks.check


def run(trace, *command, options=()):
    return subprocess.run([DWELL, "run", "-o", trace, *options, *command], capture_output=True, text=True)


def rows(trace, view, *more, by=lambda row: row["name"]):
    """{name: row} of a view, with the columns' names."""
    text = subprocess.run([DWELL, "report", "--view", view, "--format", "json", *more, trace], capture_output=True, text=True)
    if text.returncode:
        return {}
    table = json.loads(text.stdout)["views"][0]
    names = [column["name"] for column in table["columns"]]
    found = [dict(zip(names, row)) for row in reversed(table["rows"])]
    return {by(row): row for row in found}


def first_screen(trace):
    """The sentences and tables of the report without line breaks: sentences are broken at the width of a page."""
    return " ".join(subprocess.run([DWELL, "report", trace], capture_output=True, text=True, check=True).stdout.split())


def loses(trace):
    """What the report says about lost records; "" if it says that there are none."""
    text = first_screen(trace)
    return "" if "Trust: nothing is lost" in text else text


def share(found, name, column="total_share"):
    return found.get(name, {}).get(column, 0)


def shares(folder, program, how="250"):
    """Functions that take 60, 30 and 10% of the CPU, in two threads."""
    trace = os.path.join(folder, "shares.dwell")
    run(trace, program, "shares", options=["--sample", how])
    hot = rows(trace, "hot")
    samples = sum(row["samples"] for name, row in hot.items() if name.startswith("burn_"))
    for name, wanted in (("burn_60", 0.6), ("burn_30", 0.3), ("burn_10", 0.1)):
        # four standard deviations of as many independent samples
        allowed = 4 * (wanted * (1 - wanted) / max(samples, 1)) ** 0.5 + 0.02
        check(f"the share of {name}", abs(share(hot, name) - wanted) < allowed, share(hot, name), samples)
    check("both threads have samples", len(rows(trace, "hot", "--group-by", "thread")) and
          share(hot, "main") < 0.8 < share(hot, "main") + share(hot, "shares"), hot.keys())
    screen = first_screen(trace)
    check("the first screen names the hottest function", "burn_60 (sampler_program.c:" in screen, screen)


def without_ranges(folder, program):
    """What other views and exports show of a program that has no ranges: its samples, and not the profiler's own ranges."""
    trace = os.path.join(folder, "shares.dwell")
    for words in (["export", "-f", "folded", trace], ["export", "-f", "speedscope", trace], ["export", "-f", "flamegraph", trace],
                  ["top", "--once", trace]):
        said = subprocess.run([DWELL, *words], capture_output=True, text=True)
        own = "new chunk" in said.stdout and "speedscope" not in words  # that has a profile of ranges beside the samples
        check(f"{words[:3]} without ranges", "burn_60" in said.stdout and not own, said.stdout[:2000], said.stderr)
    busy = [row["busy_share"] for row in rows(trace, "threads", by=lambda row: row["tid"]).values()]
    check("threads without ranges are busy while they use a CPU", len(busy) > 1 and min(busy) > 0.001, busy)


SHORT = """
#include <pthread.h>
#include <time.h>
static void *piece(void *all)
{
    struct timespec t;
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); while (t.tv_nsec < 40000000);
    return all;
}
int main(void) { for (int i = 0; i < 12; i++) { pthread_t one; pthread_create(&one, NULL, piece, NULL); pthread_join(one, NULL); } }
"""


def short_threads(folder):
    """Threads that live for 40 ms are busy for at most all of their life, and the page's flame graph shows them as one."""
    program, trace, page = (os.path.join(folder, name) for name in ("short", "short.dwell", "short.html"))
    subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", program, "-pthread"], input=SHORT, text=True, check=True)
    run(trace, program, options=["--sample", "250"])
    busy = [row["busy_share"] for row in rows(trace, "threads", by=lambda row: row["tid"]).values()]
    check("short threads", len(busy) == 13 and max(busy) <= 1, busy)
    subprocess.run([DWELL, "report", "--format", "html", "-o", page, trace], check=True)
    with open(page, encoding="utf-8") as file:
        graph = re.search(r'"of":"samples","nodes":\[([\d,-]*)\].*?"threads":{([^}]*)}', file.read())
    check("short threads are one in the flame graph", graph and '"short (12 threads)"' in graph.group(2), graph and graph.group(2))
    cells = [int(cell) for cell in graph.group(1).split(",")] if graph else []
    roots = sum(cells[at + 3] for at in range(0, len(cells), 6) if cells[at] == 0)
    every = sum(row["self_ns"] for row in rows(trace, "hot").values())
    check("the flame graph has all samples", abs(roots - every) < 1000, roots, every)


def kernel(folder, program):
    """Time in the kernel is that of its functions, in the program's function; without the permission timers are used."""
    trace = os.path.join(folder, "kernel.dwell")
    ran = run(trace, program, "kernel", options=["--sample", "perf:250"])
    hot = rows(trace, "hot", "--limit", "all")
    inside = {name: row["self_share"] for name, row in hot.items() if row["file"] == "[kernel]"}
    text = subprocess.run([DWELL, "report", "--view", "hot", trace], capture_output=True, text=True).stdout
    first = first_screen(trace)
    if "stacks are sampled by perf events" in ran.stderr:
        check("the kernel's functions", sum(inside.values()) > 0.8 and any("read" in name for name in inside), inside, ran.stderr)
        check("what calls them", share(hot, "read_zeros") > 0.8 and hot["read_zeros"]["self_share"] < 0.2, hot.get("read_zeros"))
        check("no function of the kernel is a step", "syscall" not in first.partition("may be one: ")[2].partition("Trust:")[0], first)
        check("the method of samples", "taken by perf events" in text, text)
    else:
        check("why not", "--sample=perf: perf events are not permitted" in ran.stderr and "CAP_PERFMON" in text, ran.stderr, text)
    paranoid = open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii").read() if os.path.exists("/proc/sys/kernel") else "0"
    if os.geteuid() == 0 and int(paranoid) > 1:
        trace = os.path.join(folder, "open", "refused.dwell")
        os.makedirs(os.path.dirname(trace))
        shutil.copy(program, os.path.dirname(trace))
        os.chmod(folder, 0o755)
        os.chmod(os.path.dirname(trace), 0o777)
        ran = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", DWELL, "run", "--sample", "perf", "-o", trace,
                              os.path.join(os.path.dirname(trace), "program"), "shares"], capture_output=True, text=True)
        text = subprocess.run([DWELL, "report", "--view", "hot", trace], capture_output=True, text=True).stdout
        check("an ordinary user", "set kernel.perf_event_paranoid to 1 or less" in ran.stderr and "taken by timers" in text and
              "burn_60" in text and "CAP_PERFMON" in text, ran.stderr, text)


@functools.cache
def without_dwell(*command):
    return subprocess.run(command, capture_output=True, text=True)


def unnoticed(folder, program, how="1000"):
    """What the program prints is what it prints without dwell."""
    for mode in (["signals"], ["calls", "3"], ["threads"], ["pointer"]):
        alone = without_dwell(program, *mode)
        sampled = run(os.path.join(folder, f"{mode[0]}.dwell"), program, *mode, options=["--sample", how])
        check(f"{mode[0]} as without, {how}", sampled.stdout == alone.stdout and sampled.returncode == alone.returncode,
              sampled.stdout, sampled.stderr)


def waits(folder, program):
    trace = os.path.join(folder, "waits.dwell")
    run(trace, program, "waits")
    found = rows(trace, "waits", "--group-by", "phase")
    lock, naps = share(found, "wait_for_lock", "total_ns"), share(found, "nap_often", "total_ns")
    check("waits for a lock that another thread has", lock > 50e6 and "pthread_mutex_lock" in found, lock)
    check("many short sleeps count whole", naps > 200e6, naps)
    data = share(found, "wait_for_data", "total_ns")
    check("reads that wait", data > 150e6 and "read" in found, data)
    held = rows(trace, "waits", "--group-by", "holder", "--limit", "all", by=lambda row: (row["name"], row["holder"]))
    kept = [row["total_ns"] for (name, holder), row in held.items()
            if name == "wait_for_lock" and str(holder).startswith("keeper")]
    check("the thread that had the lock", sum(kept) == lock, list(held), lock)
    picture = subprocess.run([DWELL, "export", "--format", "folded", "--metric", "waits", trace, "-o", trace + ".folded"],
                             capture_output=True, text=True)
    with open(trace + ".folded", encoding="utf-8") as file:
        lines = [line for line in file if ";wait_for_data;" in line]
    check("waits as a flame graph's stacks", picture.returncode == 0 and
          sum(int(line.rsplit(" ", 1)[1]) for line in lines) == data, picture.stderr, lines, data)


def reach(folder):
    """Threads that live for less than a period, threads of C11, the roots of deep stacks, and all functions that wait."""
    program, trace = os.path.join(folder, "reach"), os.path.join(folder, "reach.dwell")
    subprocess.run(["gcc", "-O1", "-g", "-fno-optimize-sibling-calls", REACH, "-o", program, "-lpthread"], check=True)
    for milliseconds in ("2", "8"):
        run(trace, program, "short", milliseconds)
        found = share(rows(trace, "hot"), "burn_piece")
        check(f"threads of {milliseconds} ms have their share, 80%", 0.65 < found < 0.92, found)
    run(trace, program, "c11")
    found = share(rows(trace, "hot"), "c11_piece", "total_ns")
    check("threads of C11", 1.3e9 < found < 1.6e9, found)
    for frames in ("100", "200", "3000"):
        run(trace, program, "deep", frames)
        hot = rows(trace, "hot", "--limit", "all")
        a, b, below = (share(hot, name) for name in ("entry_a", "entry_b", "main"))
        if int(frames) < 1000:  # of a deeper stack the outer end is not reached
            check(f"the roots of {frames} frames", 0.35 < a < 0.65 and 0.35 < b < 0.65 and below > 0.95, a, b, below)
        check(f"a gap in {frames} frames is marked", ("[frames left out]" in hot) == (int(frames) > 128), list(hot))
    for options in ([], ["--memory=malloc"]):
        run(trace, program, "heap", options=options)
        inside = sum(row["self_share"] for row in rows(trace, "hot", "--limit", "all").values()
                     if "libc.so" in (row["module"] or ""))
        check(f"time within the allocator is libc's {options}", inside > 0.6, inside)
    run(trace, program, "hidden")
    text = subprocess.run([DWELL, "report", "--view", "waits", trace], capture_output=True, text=True).stdout
    said = re.search(r"(\d+) ms of the ([\d.]+) s that the main thread waited are in no row", text)
    check("waits that are not seen are said", said and 400 < int(said[1]) < 700, text)
    done = run(trace, program, "waits", options=["--sample", "1000"])
    found = rows(trace, "waits", "--limit", "all")
    for name in done.stdout.split():
        taken = share(found, name, "total_ns")
        check(f"waits in {name}", 150e6 < taken < 1e9, taken)
    check("all kinds of waits were tried", len(done.stdout.split()) == 15, done.stdout, done.stderr)


def names(folder):
    """Tables for people have short names, those for programs whole ones; equal names of two libraries are two functions."""
    program, trace = os.path.join(folder, "named"), os.path.join(folder, "named.dwell")
    source = os.path.join(HERE, "sampler_named.cpp")
    for part in "one", "two":
        subprocess.run(["g++", "-O1", "-shared", "-fPIC", "-DLIBRARY=" + part, source, "-o", os.path.join(folder, f"lib{part}.so")], check=True)
    subprocess.run(["g++", "-O1", source, "-o", program, f"-L{folder}", "-lone", "-ltwo", "-Xlinker", f"-rpath={folder}", "-pthread"], check=True)
    run(trace, program, options=["--sample", "250"])
    hot = rows(trace, "hot", by=lambda row: row["short_name"])
    for part in "one", "two":
        row = hot.get(f"work::burn (lib{part}.so)", {})
        check(f"the function of lib{part}.so", 0.3 < row.get("self_share", 0) < 0.7 and "std::pair" in row["name"] and
              row["module"].endswith(f"/lib{part}.so"), list(hot))
    for view in "hot", "waits":
        text = subprocess.run([DWELL, "report", "--view", view, trace], capture_output=True, text=True).stdout.split("\n\n")[0]
        check(f"{view}: width", "work::" in text and max(len(line) for line in text.split("\n")) < 120, text)


def team(folder):
    """A thread that spins for its team waits: as long as its CPU time is more than that of its work."""
    program, trace = os.path.join(folder, "team"), os.path.join(folder, "team.dwell")
    if subprocess.run(["gcc", "-O1", "-g", "-fopenmp", os.path.join(HERE, "sampler_team.c"), "-o", program]).returncode:
        return
    ran = subprocess.run([DWELL, "run", "-o", trace, "--sample", "250", program], capture_output=True, text=True,
                         env={**os.environ, "OMP_WAIT_POLICY": "active"})
    found = rows(trace, "waits", by=lambda row: (row["name"], row["line"], row["thread"].split(" ")[0]))
    spun = [row["self_ns"] / 1e9 for (name, line, thread), row in found.items()
            if name == "spins for other threads" and (row["file"] or "").endswith("sampler_team.c")]
    expected = float(ran.stdout)
    check("a thread that spins for its team", len(spun) == 1 and abs(spun[0] - expected) < 0.15 * expected, spun, expected,
          list(found))
    text = first_screen(trace)
    check("the first screen says so, with values to paste", re.search(
        r"SLOW Threads of libgomp\S*'s team spin for \d+% of the CPU time, \S+ m?s: .* TRY let them sleep, OMP_WAIT_POLICY=passive in the "
        r"environment; or fewer threads, OMP_NUM_THREADS=\d+", text), text)


def algebra_team(folder):
    """A library of algebra whose threads give up the CPU in a loop until others are ready; that of one thread does not."""
    library, program, trace = (os.path.join(folder, name) for name in ("libmyblas.so", "algebra", "algebra.dwell"))
    with open(library + ".c", "w", encoding="utf-8") as file:
        file.write(ALGEBRA)
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write("void multiply(int threads); int main(int count, char **words) { for (int i = 0; i < 6; i++) multiply(count); }")
    subprocess.run(["gcc", "-O2", "-g", "-shared", "-fPIC", "-pthread", library + ".c", "-o", library], check=True)
    subprocess.run(["gcc", "-O2", program + ".c", "-o", program, library, "-Xlinker", "-rpath=" + folder], check=True)
    sentence = r"SLOW Threads of libmyblas\.so's team spin for \d+% of the CPU time.* TRY fewer threads: OPENBLAS_NUM_THREADS=\d+"

    def see(words):
        subprocess.run([DWELL, "run", "-o", trace, "--sample", "250", program, *words], capture_output=True, check=True)
        return first_screen(trace)

    for words in ([], ["two"]):  # whoever gives up the CPU spins only if no other program wants it
        text = see(words)
        check(f"a team of a library of algebra {words}", bool(re.search(sentence, text)) == bool(words), text)


def own_spin(folder):
    """A thread of the program that asks again and again whether another one has finished, and one that sleeps until it has."""
    program, trace = os.path.join(folder, "queue"), os.path.join(folder, "queue.dwell")
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write(QUEUE)
    for wait, spins in ("while (atomic_load(&made) == seen) ;", True), ("sem_wait(&ready);", False):
        subprocess.run(["gcc", "-O2", "-g", "-pthread", f"-DWAIT={wait}", program + ".c", "-o", program], check=True)
        subprocess.run([DWELL, "run", "-o", trace, "--sample", "250", program], capture_output=True, check=True)
        text = first_screen(trace)
        check(f"a queue whose reader spins: {spins}", bool(re.search(
            r"SLOW Threads of the program spin for \d+% of the CPU time, \S+ m?s, most of it in take \(queue\.c:\d+\): .* TRY let a "
            r"thread that waits give up its CPU", text)) == spins, text)


QUEUE = """
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static atomic_ulong made;
static sem_t ready;
static volatile double sink;
__attribute__((noinline)) static void take(unsigned long seen)
{
    WAIT
}
static void *make(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        for (int k = 0; k < 200000; k++)
            sink += k;
        atomic_fetch_add(&made, 1);
        sem_post(&ready);
    }
    return unused;
}
int main(void)
{
    pthread_t thread;

    sem_init(&ready, 0, 0);
    pthread_create(&thread, 0, make, 0);
    for (unsigned long seen = 0; seen < 1000; seen++)
        take(seen);
    return pthread_join(thread, 0);
}
"""


ALGEBRA = """
#include <pthread.h>
#include <sched.h>
#include <time.h>
static volatile int done;
static volatile double sink;
static void *work(void *unused)
{
    struct timespec at;
    double from;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    from = at.tv_sec + at.tv_nsec * 1e-9;
    do {
        for (int i = 0; i < 20000; i++) sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    } while (at.tv_sec + at.tv_nsec * 1e-9 < from + .1);
    done = 1;
    return unused;
}
void multiply(int threads)
{
    pthread_t thread;
    done = 0;
    if (threads < 2) { work(0); return; }
    pthread_create(&thread, 0, work, 0);
    while (!done) sched_yield();
    pthread_join(thread, 0);
}
"""


def workers(folder):
    """Without steps: the first screen says who waits for a lock, and a thread that works in one function does not spin."""
    program, trace = os.path.join(folder, "workers"), os.path.join(folder, "workers.dwell")
    if subprocess.run(["g++", "-O2", "-g", os.path.join(HERE, "sampler_workers.cpp"), "-o", program, "-pthread"]).returncode:
        return
    for mode in ([], ["spin"]):
        subprocess.run([DWELL, "run", "-o", trace, "--sample", "250", program, *mode], capture_output=True, check=True)
        text = subprocess.run([DWELL, "report", trace], capture_output=True, text=True, check=True).stdout
        head = " ".join(text.split("\n\n")[0].split())
        check(f"workers {mode}: the lock", re.search(r"Threads waited for locks for \S+ s in all, \d+% of it in \S*update_table "
                                                    r"\(sampler_workers.cpp:\d+\)", head), text)
        check(f"workers {mode}: spins", ("it spins until" in head) == bool(mode) and (not mode or "spin_until_done" in head), text)
        check(f"workers {mode}: width", max(len(line) for line in text.split("\n\n")[1].split("\n")) < 120, text)


def candidates(folder):
    """Each function that a report without steps offers for --step-on makes steps; inlined ones are not offered."""
    program, trace = os.path.join(folder, "table"), os.path.join(folder, "table.dwell")
    source = os.path.join(HERE, "..", "..", "examples", "gallery", "rows.cpp")
    if subprocess.run(["g++", "-std=c++17", "-O2", "-g", source, "-o", program]).returncode:
        return
    subprocess.run([DWELL, "run", "-o", trace, "--sample", "250", program], capture_output=True, check=True)
    text = first_screen(trace)
    offered = re.search(r"functions? may be one: (.*?) Trust:", text)
    check("a function is offered for --step-on", offered and "(" not in offered.group(1), text)
    for name in offered.group(1).split(", ") if offered else []:
        subprocess.run([DWELL, "run", "-o", trace, "--step-on", name, program], capture_output=True, check=True)
        text = subprocess.run([DWELL, "report", trace], capture_output=True, text=True, check=True).stdout
        check(f"{name} makes steps", re.search(r"^\S+: [\d,]+ steps in", text, re.M), text)


CALLED_ONCE = """
#include <cstdio>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
volatile double sink;
__attribute__((noinline)) double kernel(const std::vector<double> &a, double k) { double s = 0; for (double x : a) s += x * k; return s; }
__attribute__((noinline)) void layer(std::vector<double> &a) { sink = kernel(a, 1.5); sink = kernel(a, 2.5); }
__attribute__((noinline)) void train_step(std::vector<double> &a, int i) { layer(a); layer(a); a[i % a.size()] += i; }
__attribute__((noinline)) void load(std::vector<double> &a) { for (int i = 0; i < 200000; i++) { char b[64]; int p, q; snprintf(b, 64, "%d %d", i, i); sscanf(b, "%d %d", &p, &q); a.push_back(p + q); } }
__attribute__((noinline)) void train(std::vector<double> &a) { for (int i = 0; i < 1500; i++) train_step(a, i); }
__attribute__((noinline)) void run_all() { std::vector<double> a; load(a); train(a); }
int main() { std::thread thread(run_all); thread.join(); }
"""


def called_once(folder):
    """What is called once is not offered for --step-on: what starts a thread, and what has the loop."""
    program, trace = os.path.join(folder, "once"), os.path.join(folder, "once.dwell")
    if subprocess.run(["g++", "-x", "c++", "-O2", "-g", "-pthread", "-", "-o", program], input=CALLED_ONCE, text=True).returncode:
        return
    subprocess.run([DWELL, "run", "-o", trace, "--sample", "250", program], capture_output=True, check=True)
    text = first_screen(trace)
    check("functions that are called often are offered", "these functions may be one: train_step, layer Trust:" in text, text)


STEPS_OF_PYTHON = """
import hashlib, sys, threading
from other import Learner

LARGE = 1 << (22 if sys.argv[1:] else 12)

class Trainer:
    def step(self, data):
        if len(data) > LARGE:
            return self.step(data[:LARGE])
        return hashlib.sha256(data).digest()

def learn(data):
    return trainer.step(data)

trainer, learner = Trainer(), Learner()
def main():
    for _ in range(200):
        learn(bytes(2 * LARGE))
        learner.update()

if sys.argv[1:] == ["thread"]:
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
else:
    main()
"""


FIRST_CALLS = """
import sys
import first_module
class Network:
    class Part:
        def update(self, i):
            if i == 7: raise ValueError
    def train(self, i): return i
network, part = Network(), Network.Part()
def caught(i):
    try: part.update(i)
    except ValueError: pass
def quick(i): return i + 1
def factorial(i): return 1 if i < 2 else i * factorial(i - 1)
def decorate(function):
    return lambda i: function(i)
@decorate
def decorated(i): return i
for i in range(3000): network.train(i)
for i in range(3000): caught(i)
for i in range(3000): quick(i)
for i in range(3000): factorial(3)
for i in range(3000): decorated(i)
for i in range(2000): first_module.helper(i)
def takes_profile(i): return sys.setprofile(None)
takes_profile(1)
sys.exit(sys.getprofile() is not None or sys.gettrace() is not None)
"""


def first_calls(folder, interpreter):
    """Functions that are called at once after their definition, 3,000 times within a millisecond."""
    for name, text in (("first.py", FIRST_CALLS), ("first_module.py", "def helper(i): return i\nfor i in range(1000): helper(i)\n")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    trace = os.path.join(folder, "first.dwell")
    for options in ((), ("--functions",), ("--functions=python",)):
        for name in ("Network.train", "Network.Part.update", "quick", "factorial", "decorated", "helper", "first_module.helper"):
            ran = subprocess.run([DWELL, "run", "-o", trace, *options, "--step-on", name, interpreter, os.path.join(folder, "first.py")],
                                 capture_output=True, text=True)
            text = subprocess.run([DWELL, "report", trace, "--view", "steps"], capture_output=True, text=True).stdout
            check(f"first calls of {name} {options}", ran.returncode == 0 and text.startswith("3,000 steps in"), ran.stderr + text)


def steps_of_python(folder, interpreter):
    """--step-on names a function of a Python program without PyTorch, as the report calls it. All calls of the main thread
    count, also those at once after the definition; in another thread those within milliseconds may be missed, and samples need some time:
    with an argument, the program takes longer."""
    script, trace = os.path.join(folder, "learn.py"), os.path.join(folder, "learn.dwell")
    for name, text in (("learn.py", STEPS_OF_PYTHON), ("other.py", "class Learner:\n    def update(self):\n        return sum(range(1 << 14))\n")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    for name, *arguments in (("learn",), ("Trainer.step",), ("other.Learner.update",), ("Learner.update",), ("learn", "thread")):
        subprocess.run([DWELL, "run", "-o", trace, "--step-on", name, interpreter, script, *arguments], capture_output=True, check=True)
        text = subprocess.run([DWELL, "report", trace], capture_output=True, text=True, check=True).stdout
        found = re.search(r"^\S+: (\d+) steps in", text, re.M)
        check(f"--step-on {name} {arguments}", found and (100 if arguments else 200) <= int(found.group(1)) <= 200, text)
    ran = subprocess.run([DWELL, "run", "-o", trace, "--step-on", "laern", interpreter, script, "long"], capture_output=True, text=True, check=True)
    check("a name that is not there", "--step-on laern: nothing of this name was seen; these would do: learn, main" in ran.stderr, ran.stderr)
    text = first_screen(trace)
    os.makedirs(os.path.join(folder, "site-packages"), exist_ok=True)
    shutil.copy(os.path.join(folder, "other.py"), os.path.join(folder, "site-packages", "installed.py"))
    with open(os.path.join(folder, "own.py"), "w", encoding="utf-8") as file:
        file.write("import os, sys, time\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'site-packages'))\n"
                   "import installed\ntime.sleep(.3)\nclass Learner(installed.Learner):\n    def update(self):\n        time.sleep(.01)\n"
                   "learner = Learner()\nfor _ in range(40): learner.update()\n")
    subprocess.run([DWELL, "run", "-o", trace, "--step-on", "Learner.update", interpreter, os.path.join(folder, "own.py")], capture_output=True, check=True)
    own = subprocess.run([DWELL, "report", trace], capture_output=True, text=True, check=True).stdout
    found = re.search(r"^\S+: (\d+) steps in", own, re.M)
    check("the script's method of the same name", found and int(found.group(1)) == 40, own)
    with open(script, "w", encoding="utf-8") as file:
        file.write("import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'site-packages'))\n"
                   "import installed\nlearner = installed.Learner()\nfor _ in range(3000): learner.update()\n")
    subprocess.run([DWELL, "run", "-o", trace, interpreter, script], capture_output=True, check=True)
    method = first_screen(trace)
    named = subprocess.run([interpreter, "-c", "def f(): pass\nf.__code__.co_qualname"], capture_output=True).returncode == 0
    check("the report offers a method of an installed package", not named or "this function may be one: Learner.update" in method, method)
    check("the report offers a function of Python", re.search(r"functions? may be one: (.*learn|Trainer.step)", text), text)


def made_code(folder):
    """Names of code that was made at run time, also where the program's file is wrong."""
    program, trace = os.path.join(folder, "made"), os.path.join(folder, "made.dwell")
    subprocess.run(["gcc", "-O1", "-g", os.path.join(HERE, "sampler_made.c"), "-o", program], check=True)
    for form, first, said in (("map", "made first", None), ("dump", "made first", None), ("twice", "made later or made first", None),
                              ("wrong", "made first", ".map is damaged, cut or too long: 6 of its 8 entries could not be used"),
                              ("cut", "made first", ".dump is damaged, cut or too long: 1 of its 3 entries could not be used"),
                              ("link", None, "is a symbolic link")):
        ran = subprocess.run([DWELL, "run", "-o", trace, "--sample", "250", program, form], capture_output=True, text=True, cwd=folder)
        for path in (f"/tmp/perf-{ran.stdout.strip()}.map", f"/tmp/perf-{ran.stdout.strip()}.map.other"):
            if os.path.lexists(path):
                os.remove(path)
        found = rows(trace, "hot")
        all_ns = sum(row["self_ns"] for row in found.values())
        if first:
            shares = [share(found, name, "self_ns") / max(all_ns, 1) for name in (first, "made second")]
            check(f"{form}: names of made code", abs(shares[0] - 0.25) < 0.1 and abs(shares[1] - 0.75) < 0.1, shares, list(found))
        else:
            check(f"{form}: made code without names", "[jit]" in found and "made second" not in found, list(found))
        check(f"{form}: what is said", (said in ran.stderr) if said else "names of code" not in ran.stderr, ran.stderr)


def kinds_of_code(folder, compiler="gcc"):
    """Code without unwind tables, without symbols, and with frame pointers."""
    for name, flags in (("tables", ["-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables"]), ("stripped", ["-s"]),
                        ("small", ["-Os", "-static-libgcc"])):
        program = os.path.join(folder, name)
        subprocess.run([compiler, "-O2", *flags, SOURCE, "-o", program, "-lpthread"], check=True)
        trace = program + ".dwell"
        result = run(trace, program, "shares", "6")
        hot = rows(trace, "hot")
        check(f"samples of a program: {name}", result.returncode == 0 and sum(row["samples"] for row in hot.values()) > 30, result)
    off = os.path.join(folder, "off.dwell")
    run(off, os.path.join(folder, "small"), "shares", "1", options=["--sample", "off"])
    check("--sample off: no samples", not rows(off, "hot"))
    bad = run(off, "true", options=["--sample", "often"])
    check("a wrong number of samples", bad.returncode == 2 and "from 1 to 1000, perf, perf:NUMBER or off" in bad.stderr, bad.stderr)


def python(folder, interpreter):
    script = os.path.join(folder, "script.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    trace = os.path.join(folder, "python.dwell")
    alone = subprocess.run([interpreter, script], capture_output=True, text=True)
    result = run(trace, interpreter, script, options=["--sample", "250"])
    hot = rows(trace, "hot", "--limit", "all")
    check(f"{interpreter} as without", result.returncode == alone.returncode == 0 and result.stdout == alone.stdout, result.stderr)
    for name in ("text", "plain", "pairs"):
        check(f"{interpreter}: {name}", share(hot, name) > 0.02 and str(hot[name]["place"]).startswith("script.py:"), hot.get(name))
    check(f"{interpreter}: work calls them", share(hot, "work") > 0.7, share(hot, "work"))
    # From 3.12 on a frame of the interpreter's own lies around it.
    inits = [row["place"] for name, row in hot.items() if name.endswith("__init__")]
    check(f"{interpreter}: frames of the program", inits and all(str(place).startswith("script.py:") for place in inits), inits)
    check(f"{interpreter}: native frames, too", any(name.startswith("_start") or "libc_start" in name for name in hot), list(hot)[:40])


def freed_code(folder, interpreter):
    """A function is not named as another one whose code was there before."""
    trace = os.path.join(folder, "freed.dwell")
    result = run(trace, interpreter, "-c", FREED, options=["--sample", "1000"])
    hot = rows(trace, "hot", "--limit", "all")
    names = [name for name in hot if name.startswith("f") and name[1:].isdigit()]
    # each takes some ticks of the processor's time, but a machine may be fast
    check(f"{interpreter}: functions at one address", len(names) > int(result.stdout or 99) // 2, names, result.stdout)
    check(f"{interpreter}: their files", all(hot[name]["file"] == "made" + name[1:] for name in names), names)


def storm(folder, interpreter):
    """Samples at any instruction change nothing of what a program does."""
    program = [interpreter, os.path.join(HERE, "sampler_stress.py")]
    library = os.path.join(folder, "storm.so")
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", os.path.join(HERE, "sampler_storm.c"), "-o", library, "-ldl"], check=True)
    alone = subprocess.run(program, capture_output=True, text=True)
    trace = os.path.join(folder, "storm.dwell")
    result = subprocess.run([DWELL, "run", "-o", trace, "--sample", "1000", *program], capture_output=True, text=True,
                            env=dict(os.environ, LD_PRELOAD=library))
    check(f"{interpreter} in a storm of samples", alone.returncode == result.returncode == 0 and alone.stdout == result.stdout,
          result.returncode, result.stdout[-500:], result.stderr[-500:])
    taken = subprocess.run([DWELL, "report", "--view", "hot", "--format", "csv", trace], capture_output=True, text=True).stdout
    check(f"{interpreter}: a sample within the recorder is no loss", not loses(trace), loses(trace)[-500:])
    check(f"{interpreter}: many samples", taken.count("\n") > 20, taken[:500])


def before_script(folder, interpreter):
    """What runs before the script does, as files in site-packages, has its frames."""
    trace = os.path.join(folder, "before.dwell")
    with open(os.path.join(folder, "sitecustomize.py"), "w", encoding="utf-8") as file:
        file.write("def prepare():\n    for _ in range(10000000): pass\nprepare()\n")
    subprocess.run([DWELL, "run", "-o", trace, "--sample", "250", interpreter, "-c", "pass"], capture_output=True,
                   env=dict(os.environ, PYTHONPATH=folder))
    os.remove(os.path.join(folder, "sitecustomize.py"))
    found = rows(trace, "hot", "--limit", "all")
    check(f"{interpreter}: before the script", share(found, "prepare") > 0.3, list(found))


def unknown(folder):
    """Frames of an interpreter that dwell does not know are not guessed."""
    for name, macros in (("newer", ["-DMINOR=99"]), ("free-threaded", ["-DMINOR=15", "-DFREE_THREADED=1"])):
        program, trace = os.path.join(folder, "python-" + name), os.path.join(folder, "unknown.dwell")
        subprocess.run(["gcc", "-O1", "-rdynamic", *macros, os.path.join(HERE, "sampler_unknown.c"), "-o", program], check=True)
        run(trace, program, "1", options=["--sample", "250"])
        text = subprocess.run([DWELL, "report", "--view", "hot", trace], capture_output=True, text=True).stdout
        check(f"{name}: no frames", "frames of this version of Python are not known; those of 3.9 to" in text and "work_on" in text, text)
        with subprocess.Popen([program, "100"], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            text = subprocess.run([DWELL, "stacks", str(process.pid)], capture_output=True, text=True).stdout
            process.kill()
        said = "frames of Python 3.99 are" if name == "newer" else "frames of free-threaded Python 3.15 are"
        check(f"{name}: dwell stacks", said + " not known; those of 3.9 to" in text and "work_on" in text, text)


def trampolines(folder, interpreter):
    """With -X perf made code is called between two functions of Python. It is none of them."""
    if subprocess.run([interpreter, "-c", "import sys; assert sys.version_info >= (3, 12)"], capture_output=True).returncode:
        return
    script, trace = os.path.join(folder, "script.py"), os.path.join(folder, "perf.dwell")
    run(trace, interpreter, "-X", "perf", script, options=["--sample", "250"])
    hot = rows(trace, "hot", "--limit", "all")
    made = [name for name in hot if name == "[jit]" or name.startswith("py::")]
    # in the few instructions of made code before the loop has the function's frame, it stands for the function
    check(f"{interpreter} -X perf: functions once", sum(hot[name]["total_share"] for name in made) < 0.1 and share(hot, "work") > 0.7,
          made, share(hot, "work"))
    check(f"{interpreter} -X perf: what calls them", share(hot, "_start") > 0.3 or platform.machine() != "x86_64", share(hot, "_start"))
    with subprocess.Popen([interpreter, "-X", "perf", "-c", LOOP], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        text = subprocess.run([DWELL, "stacks", str(process.pid)], capture_output=True, text=True).stdout
        process.kill()
    check(f"{interpreter} -X perf: stacks", "    outer " in text and "py::" not in text and " ?\n" not in text, text)
    for name in os.listdir("/tmp"):
        path = os.path.join("/tmp", name)
        if name.startswith("perf-") and name.endswith(".map") and "/script.py" in open(path, encoding="utf-8").read():
            os.remove(path)
    os.remove(f"/tmp/perf-{process.pid}.map")


def by_default(folder, interpreter):
    """Programs of Python have samples without a request."""
    trace = os.path.join(folder, "default.dwell")
    run(trace, interpreter, os.path.join(folder, "script.py"))
    check(f"{interpreter}: samples by default", rows(trace, "hot"), trace)


def interpreters():
    """This one and the others on PATH, each once: several names may be one program. Those of a version manager may run none."""
    found = {os.path.realpath(sys.executable): sys.executable}
    for minor in range(9, 16):
        path = shutil.which(f"python3.{minor}")
        asked = path and subprocess.run([path, "-c", "import os, sys; print(os.path.realpath(sys.executable), sys.executable, sep='\\n')"],
                                        capture_output=True, text=True)
        if asked and asked.returncode == 0:  # the program itself: what a version manager has on PATH is a script that looks for it
            found.setdefault(*asked.stdout.splitlines())
    return found.values()


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        subprocess.run(["gcc", "-O2", "-g", SOURCE, "-o", program, "-lpthread"], check=True)
        checks.part(shares, folder, program)
        without_ranges(folder, program)
        checks.part(short_threads, folder)
        checks.part(shares, folder, program, "perf:1000")
        checks.part(kernel, folder, program)
        unnoticed(folder, program)
        unnoticed(folder, program, "perf:1000")
        checks.part(waits, folder, program)
        for measure in reach, names, team, algebra_team, own_spin, workers, candidates, called_once, made_code:
            checks.part(measure, folder)
        kinds_of_code(folder)
        unknown(folder)
        for interpreter in interpreters():
            for measure in python, by_default, freed_code, before_script, trampolines, steps_of_python:
                checks.part(measure, folder, interpreter)
            storm(folder, interpreter)
            first_calls(folder, interpreter)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return checks.failed != 0


sys.exit(main())
