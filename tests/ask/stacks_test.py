#!/usr/bin/env python3
"""dwell stacks on programs that hang in known places, in C and in Python.

usage: stacks_test.py DWELL HANG MADE DEADLOCK [PART-OF-A-NAME...]

The last line is "N passed, N failed, N skipped".
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

dwell, hang, made, deadlock = (os.path.abspath(path) for path in sys.argv[1:5])
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8"}
CHURN = """
import gc, threading
def make(i):
    space = {}
    exec(compile(f"def made_{i}(n):\\n    for k in range(n):\\n        i = k\\n    yield k\\n", f"/made/file_{i}.py", "exec"), space)
    return space[f"made_{i}"]
def churn(n):
    while True:
        function = make(n % 997)
        for _ in function(300):
            pass
        del function
        n += 1
        if n % 50 == 0:
            gc.collect(0)
for n in range(3):
    threading.Thread(target=churn, args=(n * 100,), daemon=True).start()
print("ready", flush=True)
churn(500)
"""
PYTHON = """
import threading, time
def inner():
    print("ready", flush=True)
    time.sleep(1000)
def outer():
    list(map(lambda _: inner(), [0]))
class Worker:
    def run(self):
        while True:
            pass
threading.Thread(target=Worker().run, daemon=True).start()
outer()
"""
RLOCKS = """
import threading, time
class Pair:
    def __init__(self):
        self.one, self.two = threading.RLock(), threading.RLock()
pair, both = Pair(), threading.Barrier(2)
def take_one():
    with pair.one:
        both.wait()
        with pair.two: pass
def take_two():
    pair.two.acquire()
    pair.two.acquire()
    both.wait()
    pair.one.acquire()
for function in take_one, take_two:
    threading.Thread(target=function, daemon=True).start()
print("ready", flush=True)
time.sleep(1000)
"""
GIL = """
import ctypes, threading
def spin():
    while True: pass
def hold():
    library.usleep(500_000_000)
library = ctypes.PyDLL(None)
threading.Thread(target=spin, daemon=True).start()
print("ready", flush=True)
hold()
"""
NAMES = """
import threading, time
from concurrent.futures import ThreadPoolExecutor
class Mine(threading.Thread):
    def __init__(self, name):
        self.first = "first"
        super().__init__(name=name, daemon=True)
    def run(self): time.sleep(1000)
for name in "reads", "writes": Mine(name).start()
pool = ThreadPoolExecutor(2, "pool")
for _ in range(2): pool.submit(time.sleep, 1000)
print("ready", flush=True)
time.sleep(1000)
"""
TASKS = """
import asyncio, time
class Source:
    async def items(self):
        await asyncio.sleep(1000)
        yield 1
async def fetch(): await asyncio.sleep(1000)
async def worker(queue):
    while True: await queue.get()
async def reads():
    async for item in Source().items(): pass
async def joins(other): await other
async def both(): await asyncio.gather(fetch(), fetch())
async def main():
    make, queue = asyncio.get_running_loop().create_task, asyncio.Queue()
    one = make(fetch(), name="downloader")
    tasks = [make(worker(queue)) for _ in range(12)] + [make(joins(one), name="joiner"), make(reads(), name="reader"),
             make(both(), name="both")]
    await asyncio.sleep(.1)
    print("ready", flush=True)
    await asyncio.sleep(3)
    tasks.append(make(fetch(), name="new"))
    print("blocks", flush=True)
    time.sleep(1000)
asyncio.run(main())
"""
NODE = """
function hotLoop(n) { let s = 0; for (let i = 0; i < n; i++) s = (s + i * 7) % 1000003; return s; }
console.log("ready");
for (;;) hotLoop(100000);
"""


def stacks(pid, *options, status=0, **more):
    done = subprocess.run([dwell, "stacks", *options, str(pid)], capture_output=True, text=True, check=False, timeout=120,
                          env=ENVIRONMENT, **more)
    if done.returncode != status:
        raise AssertionError(f"exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout if not status else done.stderr


class Stacks(unittest.TestCase):
    def start(self, *command, pause=0.3, **more):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT, **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(pause)  # until the other threads wait: a test that comes too soon looks again
        return process

    def look_until(self, pid, pattern, seconds=30):
        end = time.monotonic() + seconds
        while True:
            text = stacks(pid)
            if re.search(pattern, text) or time.monotonic() > end:
                return text
            time.sleep(0.1)

    def test_a_lock_and_its_holder(self):
        process = self.start(hang)
        text = self.look_until(process.pid, r"threads \d+, \d+, \d+ ")
        self.assertRegex(text, rf"threads \d+, \d+, \d+ \(\w+\) wait for a lock that thread {process.pid} holds\n")
        self.assertRegex(text, rf"thread {process.pid} \(\w+\) waits for a timer")
        self.assertRegex(text, r"    hang_wait +hang.c:\d+\n")
        self.assertRegex(text, r"    hang_compute +hang.c:\d+\n    hang_spin ")
        self.assertRegex(text, r"waits for a descriptor or a signal\n(    .*\n)*    hang_poll +hang.c:\d+\n")
        self.assertNotIn("start_thread", text)
        self.assertRegex(stacks(process.pid, "--all"), r"    hang_spin .*\n    (start_thread |\S+ +libc\.so)")  # where libc has no symbols

    def test_threads_that_wait_for_each_other(self):
        process = self.start(deadlock, "circle")
        text = self.look_until(process.pid, "^Deadlock")
        self.assertRegex(text, r"^Deadlock: thread (\d+) \(\w+\) waits in take_both \(deadlock.c:\d+\) for a lock that thread (\d+) holds; "
                               r"thread \2 \(\w+\) waits in take_both \(deadlock.c:\d+\) for a lock that thread \1 holds\.\nprocess ")
        process = self.start(deadlock, "join")
        text = self.look_until(process.pid, "^Deadlock")
        self.assertRegex(text, rf"^Deadlock: thread {process.pid} \(\w+\) waits in main \(deadlock.c:\d+\) for the end of thread (\d+); "
                               rf"thread \1 \(\w+\) waits in take_one \(deadlock.c:\d+\) for a lock that thread {process.pid} holds\.\n")
        process = self.start(deadlock, "itself")
        text = self.look_until(process.pid, "^Deadlock")
        self.assertRegex(text, rf"^Deadlock: thread {process.pid} \(\w+\) waits in main \(deadlock.c:\d+\) for a lock that it holds itself\.\n")
        table = json.loads(stacks(process.pid, "--format", "json"))["views"][0]
        self.assertIn("a lock that it holds itself", table["heads"][0])

    def test_the_thread_that_writes(self):
        process = self.start(deadlock, "writer")
        text = self.look_until(process.pid, "waits for a lock that")
        self.assertRegex(text, rf"^process .*\n\nthread {process.pid} \(\w+\) waits for a lock that thread \d+ holds\n")

    def test_a_blocked_thread_is_not_interrupted(self):
        process = self.start(hang)
        for _ in range(20):
            stacks(process.pid)
        process.kill()
        self.assertEqual(process.stdout.read(), "")

    def test_rows_for_programs(self):
        process = self.start(hang)
        self.look_until(process.pid, r"threads \d+, \d+, \d+ ")
        table = json.loads(stacks(process.pid, "--format", "json"))["views"][0]
        names = [column["name"] for column in table["columns"]]
        rows = [dict(zip(names, row)) for row in table["rows"]]
        self.assertEqual({row["process"] for row in rows}, {process.pid})
        self.assertEqual(len({row["thread"] for row in rows}), 6)
        waiting = [row for row in rows if row["function"] == "hang_wait"]
        self.assertEqual([row["holder"] for row in waiting], [process.pid] * 3)
        self.assertEqual({row["stopped_ns"] for row in waiting}, {0})
        spinning = [row for row in rows if row["function"] == "hang_compute"]
        self.assertEqual(len(spinning), 1)
        self.assertEqual(spinning[0]["state"], "R")
        self.assertGreater(spinning[0]["stopped_ns"], 0)

    def test_the_step_of_a_recorded_program(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = self.start(dwell, "run", "-o", os.path.join(folder, "t.dwell"), "--", hang)
            text = self.look_until(runner.pid, r"in step 7 > backward")
            self.assertRegex(text, r"thread \d+ \(\w+\) waits for a timer, in step 7 > backward\n")
            # The runner waits for the program; both are shown.
            self.assertEqual(len(re.findall(r"^process \d+:", text, re.M)), 2)
            child = re.findall(r"^process (\d+):", text, re.M)[1]
            subprocess.run(["kill", "-9", child], check=True)
            runner.wait(timeout=60)

    def test_python_and_native_frames(self):
        process = self.start(sys.executable, "-c", PYTHON)
        text = self.look_until(process.pid, r"inner +<string>:5\n")
        version = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
        self.assertIn(f"({version}, 2 threads)", text)
        self.assertRegex(text, r"    inner +<string>:5\n(    .*lambda.*<string>:7\n)(    outer +<string>:7\n)    <module> +<string>:13\n")
        self.assertRegex(text, r"    (Worker\.)?run +<string>:1[01]\n")
        self.assertRegex(stacks(process.pid, "--all"), r"inner +<string>:5\n(    .*\n)+    outer +<string>:7")

    def test_who_holds_locks_of_python(self):
        if sys.version_info < (3, 14):  # whose RLock is another one
            process = self.start(sys.executable, "-c", RLOCKS)
            text = self.look_until(process.pid, "^Deadlock")
            self.assertRegex(text, r"^Deadlock: thread (\d+) .* waits in take_one \(<string>:10\) for an RLock that thread (\d+) holds; "
                                   r"thread \2 .* waits in take_two \(<string>:15\) for an RLock that thread \1 holds\.\n")
        process = self.start(sys.executable, "-c", GIL)
        text = self.look_until(process.pid, "interpreter's lock that")
        self.assertRegex(text, rf"thread \d+ \(.+\) waits for the interpreter's lock that thread {process.pid} holds\n(    .*\n)*    spin ")
        self.assertNotIn("Deadlock", text)

    def test_names_of_threads_of_python(self):
        process = self.start(sys.executable, "-c", NAMES)
        text = self.look_until(process.pid, r"pool_1")
        for name in "reads", "writes", "pool_0", "pool_1":
            self.assertRegex(text, rf"\nthreads? (\d+ \(\w+\), )?\d+ \({name}\)(, \d+ \(\w+\))? waits? for ")
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "t.dwell")
            subprocess.run([dwell, "attach", "--for", "1s", "-o", trace, str(process.pid)], check=True, capture_output=True)
            shown = subprocess.run([dwell, "report", trace, "--view", "waits"], check=True, capture_output=True, text=True).stdout
        self.assertIn("reads", shown)
        self.assertIn("pool_0", shown)

    @unittest.skipIf(sys.version_info >= (3, 14), "its tasks are in lists of its own")
    def test_tasks_of_asyncio(self):
        process = self.start(sys.executable, "-c", TASKS)
        text = stacks(process.pid)
        self.assertRegex(text, r"1 thread, 19 tasks that wait\)\n")
        self.assertRegex(text, r"\ntasks Task-\d+(, Task-\d+){7} and 4 more await an event\n    (Queue\.)?get .*\n    worker +<string>:9\n")
        self.assertRegex(text, r"\ntask joiner awaits task downloader\n    joins +<string>:12\n")
        self.assertRegex(text, r"\ntask reader awaits an event\n    sleep .*\n    (Source\.)?items +<string>:5\n    reads +<string>:11\n")
        self.assertRegex(text, r"\ntask both awaits several tasks\n    both +<string>:13\n")
        self.assertRegex(text, r"\ntask Task-1 awaits an event\n    sleep .*\n    main +<string>:21\n")
        table = json.loads(stacks(process.pid, "--format", "json"))["views"][0]
        names = [column["name"] for column in table["columns"]]
        rows = [dict(zip(names, row)) for row in table["rows"]]
        self.assertEqual([(row["waits_for"], row["function"]) for row in rows if row["thread_name"] == "joiner"],
                         [("task downloader", "joins")])
        self.assertEqual(process.stdout.readline(), "blocks\n")
        text = self.look_until(process.pid, "main +<string>:24")
        self.assertRegex(text, r"\ntask new awaits its turn\n    fetch +<string>:7\n")
        self.assertNotIn("task Task-1 ", text)

    def remove_map(self, process):
        path = f"/tmp/perf-{process.pid}.map"
        self.addCleanup(lambda: os.path.lexists(path) and os.remove(path))

    def test_frames_that_end_while_they_are_read(self):
        """Functions are made, called and freed all the time: what is shown is one of them, or marked."""
        process = self.start(sys.executable, "-c", CHURN)
        places = r"/?made/file_\d+\.py|<string>|\S*/?threading\.py"
        for _ in range(30):
            for line in stacks(process.pid).splitlines()[1:]:
                if ".py" in line or "<string>" in line:
                    self.assertRegex(line, rf"^ +(\w+|[\w.]+|<module>) +({places})(:\d+)?$")
                self.assertTrue(line.isprintable(), repr(line))

    def test_code_made_at_run_time(self):
        with tempfile.TemporaryDirectory() as folder:
            for form in ("map", "dump"):
                process = self.start(made, form, "forever", cwd=folder)
                self.remove_map(process)
                text = self.look_until(process.pid, "made second")
                self.assertRegex(text, r"\) runs\n    made second +\[jit\]\n")
                self.assertNotIn("names of code", text)
            process = self.start(made, "link", "forever", cwd=folder)
            self.addCleanup(os.remove, f"/tmp/perf-{process.pid}.map.other")
            self.remove_map(process)
            text = self.look_until(process.pid, r"\) runs\n    0x")
            self.assertRegex(text, r"\) runs\n    0x[0-9a-f]+ +\?\n")
            self.assertIn(f"names of code made at run time: /tmp/perf-{process.pid}.map is a symbolic link", text)

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_functions_of_node(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # node writes files where it runs
        self.addCleanup(folder.cleanup)
        process = self.start("node", "--perf-basic-prof", "-e", NODE, cwd=folder.name)
        self.remove_map(process)
        self.assertRegex(self.look_until(process.pid, r"    JS:\S?hotLoop "), r"    JS:\S?hotLoop .*\n(    .*\n)*    .*node::Start")

    def test_made_code_in_a_container(self):
        if not shutil.which("unshare") or subprocess.run(["unshare", "--pid", "--fork", "--mount", "true"], capture_output=True, check=False).returncode:
            self.skipTest("a container cannot be made here")
        # all that runs in it ends with `unshare`, whatever is found; the program may itself lie in /tmp
        runner = self.start("unshare", "--pid", "--fork", "--kill-child", "--mount", "sh", "-c",
                            'exec 9<"$0" && mount -t tmpfs none /tmp && cat <&9 >/tmp/made && chmod +x /tmp/made && /tmp/made map forever', made)
        text = self.look_until(runner.pid, "made second")
        self.assertIn("made second", text)

    def test_several_processes(self):
        first, second = self.start(hang), self.start(hang)
        text = stacks(first.pid, str(second.pid), str(first.pid))
        self.assertEqual(re.findall(r"^process (\d+):", text, re.M).count(str(first.pid)), 1)
        self.assertEqual(set(re.findall(r"^process (\d+):", text, re.M)), {str(first.pid), str(second.pid)})

    def test_bad_input(self):
        self.assertIn("dwell stacks PID", stacks("train.py", status=2))
        self.assertIn("dwell stacks PID", stacks("0", status=2))
        self.assertIn("dwell stacks PID", stacks(os.getpid(), "train.py", status=2))
        self.assertIn("there is no process 4194304", stacks(4194304, status=1))

    @unittest.skipUnless(os.getuid() == 0, "only root can become another user")
    def test_another_user_gets_a_remedy(self):
        process = self.start(hang)
        text = stacks(process.pid, status=1, user=65534, cwd="/")
        self.assertRegex(text, "same user or as root|SYS_PTRACE")


if __name__ == "__main__":
    names = sys.argv[5:]
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(test for group in loader.loadTestsFromModule(sys.modules[__name__]) for test in group
                               if not names or any(name in test.id() for name in names))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
