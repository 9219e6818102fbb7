#!/usr/bin/env python3
"""The heap by samples, dwell run --memory=malloc: programs whose heap is known, and programs that must not notice.

usage: malloc_test.py BUILD      last line: N passed, N failed, N skipped

The error of an estimate is half of its 95% interval. All tests together show that these intervals are right.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import again
import counts

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DWELL = os.path.join(BUILD, "dwell")
SOURCE = os.path.join(ROOT, "tests/probes/malloc_program.c")
# A line of the program by the word in its comment.
LINES = {found[1]: number for number, line in enumerate(open(SOURCE), 1) if (found := re.search(r"/\* (\w+) \*/$", line))}
MIB = 1 << 20
MOST_INSTRUCTIONS = 50  # that a pair of malloc and free takes more: twice what gcc 12 makes of it
deviations = []

# 100 steps of a range of Python each keep 80,000 bytes and 20 lists of 100 numbers.
SCRIPT = """
import dwell
kept = []
def keep():
    kept.append(bytearray(80000))
def lists():
    kept.append([[number + 1000 for number in range(100)] for i in range(20)])
for i in range(100):
    dwell.step()
    keep()
    lists()
    sum(len(bytes(100000)) for _ in range(20))
"""

OWN = """
#include <stddef.h>
static char space[1 << 26];
static size_t used;
void *malloc(size_t bytes) { void *block = space + used; used += (bytes + 63) & ~(size_t)63; return block; }
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void *realloc(void *old, size_t bytes) { (void)old; return malloc(bytes); }
int main(void) { for (int i = 0; i < 1000; i++) if (!malloc(10000)) return 1; return 0; }
"""

BEHIND = """
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
static char *space;
static size_t left;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *malloc(size_t bytes)
{
    size_t *block;
    bytes = ((bytes + 63) & ~(size_t)63) + 64;
    pthread_mutex_lock(&lock);
    if (bytes > left) {
        left = bytes > 1 << 20 ? bytes : 1 << 20;
        space = mmap(NULL, left, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    block = (size_t *)(void *)space;
    space += bytes;
    left -= bytes;
    pthread_mutex_unlock(&lock);
    *block = bytes - 64;
    return block + 8;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void *realloc(void *old, size_t bytes)
{
    size_t had = old ? ((size_t *)old)[-8] : 0;
    void *block = malloc(bytes);
    return had ? memcpy(block, old, had < bytes ? had : bytes) : block;
}
"""


checks = again.Checks()
check = checks.check


def run(trace, *command, option="malloc", expected=0, more=()):
    done = subprocess.run([DWELL, "run", f"--memory={option}", *more, "-o", trace, *command], capture_output=True, text=True,
                          timeout=300)
    check(f"{command[1:] or command} ends with {expected}", done.returncode == expected, done.returncode, done.stderr[-500:])
    return done.stderr


def view(trace, name="heap", *more):
    done = subprocess.run([DWELL, "report", "--view", name, *more, "--format", "json", trace], capture_output=True, text=True)
    if done.returncode:
        return [], [], done.stderr
    found = json.loads(done.stdout)["views"][0]
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row)) for row in found["rows"]], found.get("heads", []), done.stderr


def at_line(rows, what, column="live"):
    """The estimate and its error of the rows whose place, or whose caller's, is the line."""
    chosen = [row for row in rows if row["line"] == LINES[what]]
    errors = sum((row[f"{column}_error_bytes"] or 0) ** 2 for row in chosen) ** 0.5
    return sum(row[f"{column}_bytes"] or 0 for row in chosen), errors


def several(what, truth, estimates):
    """No estimate is wrong by much more than its stated error, and neither is the mean of all estimates."""
    count = len(estimates)
    mean = sum(value for value, _ in estimates) / count
    error = sum(error ** 2 for _, error in estimates) ** 0.5 / count
    slack = 0.002 * truth
    check(f"{what}: {truth}", abs(mean - truth) <= 2.2 * error + slack and
          all(abs(value - truth) <= 2.2 * error + slack for value, error in estimates), estimates)
    deviations.extend((value - truth) / (error / 1.96) for value, error in estimates if error > 0.02 * truth)


def errors_are_right():
    """Of all estimates, most are within their error, and the errors are not larger than needed."""
    within = sum(abs(deviation) <= 1.96 for deviation in deviations) / len(deviations)
    square = sum(deviation ** 2 for deviation in deviations) / len(deviations)
    print(f"{within:.0%} of {len(deviations)} estimates are within their 95% interval; mean square of deviations {square:.2f}")
    check("intervals of 95% contain the truth", within >= 0.82 and 0.4 < square < 2, sorted(deviations))


def leaks(folder, program):
    trace = os.path.join(folder, "leak.dwell")
    growth, end = [], []
    for number in range(6):
        run(trace, program, "leak", "1000")
        rows, heads, _ = view(trace)
        growth.append(at_line(rows, "leaked", "growth"))
        end.append(at_line(rows, "leaked"))
        check("the line that leaks is named", any(f"malloc_program.c:{LINES['leaked']}" in head and "Grows" in head for head in heads),
              heads)
    several("a leak of 1,000 blocks of 1 KiB a step", 1000 * 1024, growth)
    several("and its bytes at the end", 60 * 1000 * 1024, end)
    verdict = subprocess.run([DWELL, "report", "--view", "verdict", trace], capture_output=True, text=True).stdout
    check("the verdict names the line", f"leak at malloc_program.c:{LINES['leaked']}" in verdict, verdict)
    run(trace, program, "leak", "0")
    _, heads, _ = view(trace)
    check("without a leak nothing grows", heads and not any("Grows" in head for head in heads), heads)
    memory, heads, _ = view(trace, "memory")
    check("the view memory says that it is an estimate", any("estimated" in head for head in heads), heads)


def blocks(folder, program):
    trace = os.path.join(folder, "blocks.dwell")
    peaks, ends, short, kinds = [], [], [], {}
    for number in range(3):
        run(trace, program, "threads")
        rows, _, _ = view(trace)
        peaks.append(at_line(rows, "made", "peak"))
        ends.append(at_line(rows, "made"))
        run(trace, program, "many", option="malloc:128K")
        short.append(at_line(view(trace)[0], "short"))
        run(trace, program, "kinds", option="malloc:64K")
        rows, _, _ = view(trace)
        for kind in ("calloc", "posix_memalign", "aligned_alloc", "memalign", "grown", "mmap", "realloc", "unmapped"):
            kinds.setdefault(kind, []).append(at_line(rows, kind))
    several("the peak, where another thread frees", 20000 * 2048, peaks)
    several("what stays of it", 10 * MIB, ends)
    several("10,000 threads with a block each", 10000 * 3000, short)
    for kind, estimates in kinds.items():
        several(kind, 0 if kind in ("realloc", "unmapped") else 8 * MIB, estimates)


def processes(folder, program):
    trace = os.path.join(folder, "forks.dwell")
    run(trace, program, "forks", option="malloc:64K")
    rows, _, _ = view(trace)
    several("a parent's blocks", 2560 * 8192, [at_line(rows, "made")])
    children = [(row["live_bytes"], row["live_error_bytes"]) for row in rows if row["line"] == LINES["child"]]
    check("three children", len(children) == 3, children)
    several("a child's blocks", 1280 * 8192, children)
    check("children have points of their own", len({live for live, _ in children}) > 1, children)


def storm(folder, program):
    """Nearly all blocks are recorded; stacks are sampled 1,000 times a second."""
    trace = os.path.join(folder, "storm.dwell")
    for more in ((), ("--sample", "1000"), ("--sample", "off")):
        run(trace, program, "storm", option="malloc:1K", more=more)
        rows, _, message = view(trace)
        check("a storm of threads, forks and libraries is recorded", len(rows) > 2, message)
    for command in (["sh", "-c", "ls / | wc -l; (cd /; ls) | sort | head -1"], [sys.executable, "-c", "import ctypes, json"]):
        run(trace, *command, option="malloc:1K")


def python(folder):
    trace, script = os.path.join(folder, "python.dwell"), os.path.join(folder, "keep.py")
    with open(script, "w") as file:
        file.write(SCRIPT)
    os.environ.update(PYTHONPATH=os.path.join(ROOT, "python"), LD_LIBRARY_PATH=BUILD)
    growth = {5: [], 7: []} # by line
    for number in range(3):
        run(trace, sys.executable, script, option="malloc:128K")
        rows, heads, message = view(trace)
        for line, estimates in growth.items():
            chosen = [row for row in rows if row["line"] == line and row["file"].endswith("keep.py")]
            estimates.append((sum(row["growth_bytes"] or 0 for row in chosen),
                              sum((row["growth_error_bytes"] or 0) ** 2 for row in chosen) ** 0.5))
        check("lines of Python are named", all(any(f"keep.py:{line}" in head for head in heads) for line in growth), heads, message)
    several("bytes that a line of Python keeps", 80000, growth[5])
    several("small objects, in mappings of Python's allocator", 20 * (100 * 32 + 920), growth[7])


def behind(folder, program):
    """Another library with a malloc is behind this one: its blocks are recorded, and its mappings are not."""
    trace = os.path.join(folder, "behind.dwell")
    source, library = os.path.join(folder, "behind.c"), os.path.join(folder, "behind.so")
    with open(source, "w") as file:
        file.write(BEHIND)
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-fno-builtin", "-o", library, source], check=True)
    end = []
    for number in range(3):
        run(trace, "sh", "-c", f"LD_PRELOAD=$LD_PRELOAD:{library} exec {program} leak 1000", option="malloc:128K")
        rows, heads, message = view(trace)
        rows = [row for row in rows if row["name"] != "(stack not read)" and row["pid"] == max(rows, key=lambda row: row["live_bytes"])["pid"]]
        end.append((sum(row["live_bytes"] for row in rows), sum(row["live_error_bytes"] ** 2 for row in rows) ** 0.5))
        check("a leak in another library's blocks is named", any(f"malloc_program.c:{LINES['leaked']}" in head for head in heads), heads)
    several("another library's blocks, and not its mappings", 60 * 1000 * 1024, end)


THREADS = """
import threading
kept = []
def keep(count):
    for _ in range(count):
        kept.append(bytearray(1 << 20))
for count in 40, 20:
    thread = threading.Thread(target=keep, args=(count,), name=f"keeps {count}")
    thread.start()
    thread.join()
"""


def threads(folder):
    trace = os.path.join(folder, "by_thread.dwell")
    estimates = {40: [], 20: []}
    for _ in range(4):
        run(trace, sys.executable, "-c", THREADS)
        rows, _, _ = view(trace, "heap", "--group-by", "thread")
        for count, to in estimates.items():
            to.extend((row["peak_bytes"], row["peak_error_bytes"]) for row in rows if row["name"].endswith(f"keeps {count}"))
    for count, found in estimates.items():
        check("threads have a row each", len(found) == 4, found)
        several(f"the thread that keeps {count} blocks", count << 20, found)


def refusals(folder, program):
    trace = os.path.join(folder, "refusals.dwell")
    source, own = os.path.join(folder, "own.c"), os.path.join(folder, "own")
    with open(source, "w") as file:
        file.write(OWN)
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-o", own, source], check=True)
    run(trace, own)
    _, _, message = view(trace)
    check("a malloc of the program's own is named", "a malloc of its own" in message, message)
    subprocess.run(["gcc", "-static", "-O1", "-fno-builtin", "-o", own, source], check=True)
    check("a static program is named", "linked statically" in run(trace, own))
    if subprocess.run(["gcc", "-fsanitize=address", "-O1", "-pthread", "-o", own, SOURCE], capture_output=True).returncode == 0:
        os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
        check("a sanitizer is named", "sanitizer" in run(trace, own, "threads"))
    done = subprocess.run([DWELL, "run", "--memory=jemalloc", own], capture_output=True, text=True)
    check("another value is refused", done.returncode != 0 and "malloc:SIZE" in done.stderr, done.stderr)


def cost(folder, program):
    """What a pair of malloc and free takes, in instructions: a time would depend on the machine. Returns how many checks were skipped."""
    alone, sampled = (counts.instructions_each([DWELL, "run", f"--memory{option}", "-o", os.path.join(folder, "cost.dwell")], program, "pairs",
                                               (20000, 120000)) for option in ("", "=malloc"))
    if alone is None:
        print("skip instructions: valgrind is not installed")
        return 1
    print(f"a pair of malloc and free takes {alone:.1f} instructions, and {sampled - alone:.1f} more while the heap is sampled")
    check("a pair takes few instructions more", 0 < sampled - alone < MOST_INSTRUCTIONS, alone, sampled)
    return 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "malloc_program")
        subprocess.run(["gcc", "-g", "-O1", "-DSTEPS", "-I", os.path.join(ROOT, "include"), "-I", os.path.join(BUILD, "include"),
                        "-o", program, SOURCE, "-L", BUILD, "-Xlinker", f"-rpath={BUILD}", "-ldwell", "-pthread", "-ldl"], check=True)
        leaks(folder, program)
        blocks(folder, program)
        processes(folder, program)
        storm(folder, program)
        python(folder)
        threads(folder)
        behind(folder, program)
        refusals(folder, program)
        errors_are_right()
        skipped = cost(folder, program)
    print(f"{checks.passed} passed, {checks.failed} failed, {skipped} skipped")
    return checks.failed != 0


if __name__ == "__main__":
    sys.exit(main())
