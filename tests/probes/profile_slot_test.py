#!/usr/bin/env python3
"""`dwell run --functions` of programs that have a profile function of their own for a part of their run: what is called
before and after it is counted, and the trace says that something is missing.

usage: profile_slot_test.py BUILD_FOLDER      last line: N passed, N failed
"""
import csv
import os
import subprocess
import sys
import tempfile
import unittest

DWELL = os.path.join(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build"), "dwell")

COMMON = """
import cProfile, sys, threading, time
def early(): return 1
def hidden(): return 2
def late(): return 3
def call(function, times):
    for _ in range(times):
        function()
"""

BY_CPROFILE = COMMON + """
call(early, 30)
profiler = cProfile.Profile()
profiler.enable(); call(hidden, 20); profiler.disable()
call(late, 50)
assert any(row.code.co_name == "hidden" and row.callcount == 20 for row in profiler.getstats() if hasattr(row.code, "co_name"))
"""

BY_SETPROFILE = COMMON + """
seen = []
def own(frame, event, argument):
    if event == "call": seen.append(frame.f_code.co_name)
for _ in range(3):
    call(early, 10)
    sys.setprofile(own); call(hidden, 5); sys.setprofile(None)
    call(late, 10)
assert seen.count("hidden") == 15, seen
"""

# What is open when the other profiler comes is not what is open when it goes.
BY_DEPTH = COMMON + """
profiler = cProfile.Profile()
def enable():
    call(early, 10)
    sys.setprofile(lambda *arguments: None)
def disable():
    call(hidden, 10)
    sys.setprofile(None)
    call(late, 10)
def inner():
    enable()
    call(hidden, 10)
def generate():
    for i in range(3):
        yield late()
def outer():
    inner()
    disable()
    return list(map(lambda i: late(), range(5))) + list(generate())
for _ in range(4):
    outer()
call(late, 100)
"""

# The main thread waits meanwhile, so that the thread itself must look: importing is a chance.
IN_A_THREAD = COMMON + """
def work():
    call(early, 10)
    sys.setprofile(lambda *arguments: None); call(hidden, 5); sys.setprofile(None)
    open("/dev/null").close()
    call(late, 40)
for _ in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""

IN_NEW_THREADS = COMMON + """
def run(function):
    thread = threading.Thread(target=call, args=(function, 10))
    thread.start()
    thread.join()
run(early)
threading.setprofile(lambda *arguments: None); run(hidden); threading.setprofile(None)
run(late)
"""


class Slot(unittest.TestCase):
    def run_program(self, text):
        """Calls by function, the longest call of each in ns, and what `dwell info` says."""
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/program.py", "w", encoding="utf-8") as file:
                file.write(text)
            trace = f"{folder}/t.dwell"
            done = subprocess.run([DWELL, "run", "--functions", "-o", trace, "--", sys.executable, f"{folder}/program.py"],
                                  capture_output=True, text=True, cwd=folder, timeout=120)
            self.assertEqual(0, done.returncode, done.stderr)
            ask = "select name, count(*), max(duration_ns), sum(duration_ns) from ranges where category = 'function' group by name"
            rows = subprocess.run([DWELL, "query", "--format", "csv", trace, ask], capture_output=True, text=True, check=True,
                                  timeout=60).stdout.splitlines()
            info = subprocess.run([DWELL, "info", trace], capture_output=True, text=True, check=True, timeout=60).stdout
        return {row[0]: tuple(map(int, row[1:])) for row in list(csv.reader(rows))[1:]}, info

    def check(self, text, early, late, said=True):
        calls, info = self.run_program(text)
        self.assertEqual((early, late), (calls["early"][0], calls["late"][0]))
        self.assertEqual(said, "python.functions = functions are missing where another profiler" in info, info)
        self.assertEqual(said, "(probe)" in info, info)
        return calls

    def test_cprofile(self):
        # Before 3.12 its function takes the place of the probe's.
        calls = self.check(BY_CPROFILE, 30, 50, said=sys.version_info < (3, 12))
        self.assertIn("call", calls)

    def test_setprofile(self):
        self.check(BY_SETPROFILE, 30, 30)

    def test_other_frames_are_open_afterwards(self):
        calls = self.check(BY_DEPTH, 40, 4 * (10 + 5 + 3) + 100)
        # No call lasts beyond its caller: the last loop is no part of what was open before.
        self.assertEqual(4, calls["outer"][0])
        self.assertLess(calls["outer"][2], calls["<module>"][1])
        for name in ("inner", "enable", "disable"):
            self.assertLessEqual(calls[name][1], calls["outer"][1], name)

    def test_thread(self):
        self.check(IN_A_THREAD, 20, 80)

    def test_new_threads(self):
        calls, _ = self.run_program(IN_NEW_THREADS)
        self.assertEqual((10, 10), (calls["early"][0], calls["late"][0]))


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False, verbosity=0)
    failed = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)
