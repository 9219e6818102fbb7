#!/usr/bin/env python3
"""How much more stack a program's calls take under dwell: each function that dwell has in front of another library's.

usage: depth_test.py BUILD [--table] [--only NAME]      last line: N passed, N failed

Each function of depth_calls.c is called on a coroutine's stack and on a thread's, without dwell and with it: the first call of
the process, which waits or returns much memory, a second one, and one that is short. A thread also computes there, while the
sampler's signals interrupt it. Dwell may take 1 KiB more, with the kernel's frame of the signal. What libraries take of the
first thread's stack before main(), and dwell's own functions, are shown without a bound.

Functions come from the libraries' dynamic symbols: one without a call in depth_calls.c fails.
"""
import argparse
import concurrent.futures
import json
import os
import platform
import subprocess
import sys
import tempfile

MOST_MORE = 1024
MODES = {"heap": ["--memory=malloc"], "often": ["--sample", "1000"]}
LIBRARIES = ("probes/sampler/libdwell-sampler.so", "probes/malloc/libdwell-malloc.so")
PLACES = ("coroutine", "thread")
passed = failed = 0


def check(what, good, *more):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what, *more)


def functions_in_front(build):
    """Names that the libraries define and that are not dwell's."""
    names = set()
    for library in LIBRARIES:
        text = subprocess.run(["nm", "-D", "--defined-only", os.path.join(build, library)], capture_output=True, text=True, check=True)
        names |= {line.split()[2].split("@")[0] for line in text.stdout.splitlines() if line.split()[1] in "TWi"}
    return {name for name in names if not name.startswith(("dw", "__start_", "__stop_"))}


class Program:
    def __init__(self, build, folder):
        self.dwell, self.program, self.folder = os.path.join(build, "dwell"), os.path.join(build, "tests/stepping/depth"), folder

    def measure(self, name, place, mode, waits):
        """[first, later, short] in bytes, and the waits that the trace has; None where the program failed."""
        command, trace = [self.program, name] + ([place] if place else []), None
        if mode:
            trace = os.path.join(self.folder, f"{name}.{place}.{mode}.dwell")
            command = [self.dwell, "run", "-o", trace, *MODES[mode], "--", *command]
        for again in range(3):  # where another program had the processor, a lock may be free before it is asked for
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            words = done.stdout.split()
            if done.returncode == 0 and words and words[0] == name:
                waited = self.has_wait(trace, name) if mode == "often" and waits else None
                if waited is not False or again == 2:
                    return [int(word) for word in words[1:]], waited
        return None, f"{' '.join(command)}: {done.returncode} {done.stdout} {done.stderr}"

    def has_wait(self, trace, name):
        text = subprocess.run([self.dwell, "report", "--view", "waits", "--format", "json", "--limit", "all", trace],
                              capture_output=True, text=True, timeout=60).stdout
        try:
            return any(name in row for row in json.loads(text)["views"][0]["rows"])
        except (ValueError, LookupError):
            return False


def listed(program):
    text = subprocess.run([program, "list"], capture_output=True, text=True, check=True).stdout
    return dict(line.split() for line in text.splitlines())


def judge(name, kind, place, found, table):
    """Compares what a call takes under dwell with what it takes alone."""
    alone, problem = found[name, place, None]
    if not alone:
        check(f"{name} alone", False, problem)
        return
    for mode in MODES:
        under, waited = found[name, place, mode]
        if not under:
            check(f"{name} under dwell ({mode})", False, waited)
            continue
        more = max(mine - theirs for mine, theirs in zip(under, alone))
        if table or (kind != "own" and more > MOST_MORE):
            print(f"{name:24} {place:10} {mode:8} {max(alone):7} {under[0]:7} {max(under[1:]):7} {more:7}")
        if kind != "own":
            check(f"{name} on a {place}'s stack ({mode}) takes {more} bytes more", more <= MOST_MORE)
        if waited is not None:
            check(f"{name}: the wait was recorded, and so its stack was measured", waited)


def main():
    parser = argparse.ArgumentParser(usage="depth_test.py BUILD [--table] [--only NAME]")
    parser.add_argument("build")
    parser.add_argument("--table", action="store_true", help="print all rows, not only what is too deep")
    parser.add_argument("--only", default="", help="names that contain this")
    options = parser.parse_args()
    if platform.machine() != "x86_64":
        print("skip depth: it is written for x86-64")
        return 77
    front = functions_in_front(options.build)
    with tempfile.TemporaryDirectory() as folder:
        program = Program(options.build, folder)
        calls = listed(program.program)
        check("functions of libdwell-sampler.so and libdwell-malloc.so without a call: add one to tests/stepping/depth_calls.c:",
              front <= set(calls), *sorted(front - set(calls)))
        chosen = [name for name in calls if options.only in name]
        print(f"{'call':24} {'stack':10} {'mode':8} {'alone':>7} {'first':>7} {'later':>7} {'more':>7}")
        asked = [(name, place, mode) for name in chosen for place in PLACES for mode in [None, *MODES]]
        asked += [("constructors", None, mode) for mode in [None, *MODES]]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = dict(zip(asked, pool.map(lambda each: program.measure(*each, calls.get(each[0]) == "waits" and each[0] in front), asked)))
    for name in chosen:
        for place in PLACES:
            judge(name, calls[name], place, found, options.table or calls[name] == "own")
    for mode in MODES:
        print(f"{'constructors':24} {'first':10} {mode:8} {found['constructors', None, None][0][0]:7} "
              f"{found['constructors', None, mode][0][0]:7}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
