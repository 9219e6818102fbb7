#!/usr/bin/env python3
"""dwell attach on programs of known behaviour, in C and in Python.

usage: attach_test.py DWELL TARGET HANG MADE [PART-OF-A-NAME...]

The last line is "N passed, N failed, N skipped".
"""
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../probes"))
import again  # noqa: E402

dwell, target, hang, made = (os.path.abspath(path) for path in sys.argv[1:5])
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8"}
PYTHON = """
import threading, time
def often():
    sum(range(7000))
    return [i for i in range(14000)]
def seldom():
    return [i for i in range(6000)]
class Worker:
    def sleeps(self):
        while True:
            time.sleep(0.01)
def outer():
    while True:
        often()
        seldom()
threading.Thread(target=Worker().sleeps, daemon=True).start()
print("ready", flush=True)
outer()
"""
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17


NODE = """
function hotLoop(n) { let s = 0; for (let i = 0; i < n; i++) s = (s + i * 7) % 1000003; return s; }
console.log("ready");
for (;;) hotLoop(100000);
"""


def cpu_ns(pid):
    """What the kernel counted of all threads of the process."""
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


class Attach(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trace = os.path.join(folder.name, "t.dwell")

    def start(self, *command, **more):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT, **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def attach(self, pid, *options, status=0, **more):
        done = subprocess.run([dwell, "attach", str(pid), "-o", self.trace, *options], stderr=subprocess.PIPE, text=True,
                              check=False, timeout=120, env=ENVIRONMENT, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def attach_until(self, pid, seconds, *options, number=signal.SIGINT, of=None):
        """Until the process `of` or pid has used the CPU for so long: a busy machine may take long for that."""
        with subprocess.Popen([dwell, "attach", str(pid), "-o", self.trace, *options], stderr=subprocess.PIPE, text=True,
                              env=ENVIRONMENT) as attach:
            self.assertIn("recording process", attach.stderr.readline())
            self.recorded_ns = -cpu_ns(of or pid)
            self.wait_for_cpu(of or pid, seconds)
            self.recorded_ns += cpu_ns(of or pid)
            attach.send_signal(number)
            text = attach.stderr.read()
            self.assertEqual(attach.wait(timeout=60), 0 if number != signal.SIGKILL else -number, text)
        return text

    def wait_for_cpu(self, pid, seconds):
        wanted, end = cpu_ns(pid) + seconds * 1e9, time.monotonic() + 60
        while cpu_ns(pid) < wanted and time.monotonic() < end:
            time.sleep(0.05)

    def view(self, name, *options):
        done = subprocess.run([dwell, "report", self.trace, "--view", name, "--format", "json", *options], capture_output=True,
                              text=True, check=False, timeout=120, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = json.loads(done.stdout)["views"][0]
        names = [column["name"] for column in table["columns"]]
        return [dict(zip(names, row)) for row in table["rows"]]

    def shares_of_read(self, column):
        """{name: its share} of the time whose stack could be read: threads that the machine keeps from stopping are not read."""
        rows = {row["name"]: row[column] for row in self.view("hot")}
        read = 1 - rows.pop("(stack not read)", 0)
        self.assertGreater(read, 0.1, rows)
        return {name: share / read for name, share in rows.items()}

    def check_share(self, rows, often, seldom):
        """`often` has 70% of what both use. The interval of few samples is wide."""
        shares = {row["name"]: row for row in rows}
        a, b = shares[often]["total_ns"], shares[seldom]["total_ns"]
        self.assertAlmostEqual(a / (a + b), 0.7, delta=0.05 + 2 * max(row["self_error"] for row in rows))

    def child_of(self, pid):
        while not self.children(pid):
            time.sleep(0.01)
        return self.children(pid)[0]

    def children(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return file.read().split()

    @again.measures
    def test_shares_waits_and_sums(self):
        process = self.start(target, "shares")
        before = cpu_ns(process.pid)
        text = self.attach_until(process.pid, 2)
        used = cpu_ns(process.pid) - before
        self.assertRegex(text, r"\d+ looks at threads in ")
        self.assertRegex(" ".join(text.split()), r"own code takes \d+% of the run, \d+% of it in work_a \(attach_target.c:\d+\)")
        self.assertNotIn("still being written", text)
        rows = self.view("hot")
        self.check_share(rows, "work_a", "work_b")
        counted = sum(row["self_ns"] for row in rows)
        # All of it lies between the start of the command and its end; what the program used between the command's word and the signal is in it.
        self.assertLess(counted, used * 1.02 + 1e7)
        self.assertGreater(counted, self.recorded_ns * 0.9)
        self.assertIn("main", {row["name"] for row in rows})
        waits = self.view("waits")
        lock = max((row for row in waits if row["name"] == "pthread_mutex_lock"), key=lambda row: row["self_ns"])
        self.assertIn("wait_for_lock", {row["name"] for row in waits if row["thread"] == lock["thread"]})
        self.assertIn("usleep", {row["name"] for row in waits if row["thread"] != lock["thread"]})

    @again.measures
    def test_python_frames_and_native_ones(self):
        process = self.start(sys.executable, "-c", PYTHON)
        text = self.attach_until(process.pid, 2)
        self.assertIn("of CPU time", text)
        rows = self.view("hot", "--group-by", "python")
        self.check_share(rows, "often", "seldom")
        names = {row["name"]: row["total_share"] for row in rows}
        self.assertGreater(names["outer"], 0.8 * (1 - names.get("(stack not read)", 0)))
        self.assertNotIn("?", names)
        sleeps = [row for row in self.view("waits", "--group-by", "python") if row["name"].endswith("sleeps")]
        self.assertEqual(sleeps[0]["line"], 11)
        self.assertTrue({"clock_nanosleep", "select", "nanosleep"} & {row["name"] for row in self.view("waits")})

    @again.measures
    def test_code_made_at_run_time(self):
        with tempfile.TemporaryDirectory() as folder:
            for form, name in (("map", "made second"), ("dump", "made second"), ("link", "[jit]")):
                process = self.start(made, form, "forever", cwd=folder)
                for end in (".map", ".map.other"):
                    self.addCleanup(lambda path: os.path.lexists(path) and os.remove(path), f"/tmp/perf-{process.pid}{end}")
                text = self.attach_until(process.pid, 0.5)
                shares = self.shares_of_read("self_share")
                self.assertGreater(shares.get(name, 0), 0.8, shares)
                self.assertEqual("is a symbolic link" in text, form == "link", text)

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    @again.measures
    def test_functions_of_node(self):
        process = self.start("node", "--perf-basic-prof", "-e", NODE, cwd=os.path.dirname(self.trace))  # it writes a log there
        self.addCleanup(os.remove, f"/tmp/perf-{process.pid}.map")
        self.attach_until(process.pid, 1)
        shares = self.shares_of_read("total_share")
        self.assertGreater(sum(share for name, share in shares.items() if "hotLoop" in name), 0.5, shares)

    def test_secrets_of_the_command_line_are_left_out(self):
        process = self.start(target, "spin", "--token=marmalade", "--password", "marmalade")
        self.attach(process.pid, "--for", "100ms")
        texts = subprocess.run([dwell, "info", "--texts", self.trace], capture_output=True, text=True, check=True).stdout
        self.assertIn("spin --token=[redacted]", texts)
        self.assertNotIn("marmalade", texts)

    def test_no_call_ends_early(self):
        process = self.start(target, "calls")
        self.attach(process.pid, "--for", "3s", "--sample", "1000")
        out = process.communicate(timeout=60)[0]
        self.assertRegex(out, r"^0 of \d+\n")

    def test_a_signal_ends_it_and_the_program_goes_on(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start(target, "spin")
            text = self.attach_until(process.pid, 0.5, number=number)
            self.assertIn("work_a", text)
            self.check_goes_on(process)

    def check_goes_on(self, process):
        before = cpu_ns(process.pid)
        self.wait_for_cpu(process.pid, 0.01)
        self.assertGreater(cpu_ns(process.pid), before)
        self.assertIn(state(process.pid), "RS")
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            self.assertIn("TracerPid:\t0\n", file.read())

    def test_its_own_death_leaves_the_program_and_a_trace(self):
        process = self.start(target, "spin")
        for _ in range(5):
            self.attach_until(process.pid, 0.3, "--sample", "1000", number=signal.SIGKILL)
            self.check_goes_on(process)
        self.assertIn("work_a", {row["name"] for row in self.view("hot")})

    def test_a_stopped_program_stays_stopped(self):
        process = self.start(target, "spin")
        self.wait_for_cpu(process.pid, 0.05)
        process.send_signal(signal.SIGSTOP)
        while state(process.pid) != "T":
            time.sleep(0.01)
        self.attach(process.pid, "--for", "1s")
        self.assertEqual(state(process.pid), "T")
        self.assertIn("(waits for the end of a stop)", {row["name"] for row in self.view("waits")})
        process.send_signal(signal.SIGCONT)
        self.check_goes_on(process)

    @again.measures
    def test_exec_fork_vfork_and_the_end(self):
        process = self.start(target, "exec")
        self.attach_until(process.pid, 3)
        names = {row["name"] for row in self.view("hot")}
        self.assertLessEqual({"before_exec", "work_a"}, names)
        process = self.start(target, "fork")
        child = int(self.child_of(process.pid))
        self.addCleanup(os.kill, child, signal.SIGKILL)
        self.attach_until(process.pid, 1, of=child)
        self.assertIn("child_work", {row["name"] for row in self.view("hot")})
        self.assertIn("sleep", {row["name"] for row in self.view("waits")})
        process = self.start(target, "vfork")
        self.attach_until(process.pid, 0.5)
        self.check_goes_on(process)
        process = self.start(target, "short")
        self.assertIn("of CPU time", self.attach(process.pid))
        self.assertEqual(process.wait(timeout=60), 0)

    @again.measures
    def test_a_traced_program_has_frames_of_python(self):
        process = self.start(sys.executable, "-c", PYTHON)
        self.assertEqual(libc.ptrace(PTRACE_SEIZE, process.pid, None, None), 0)
        text = self.attach_until(process.pid, 1)
        self.assertIn(f"process {os.getpid()} traces it", text)
        names = {row["name"] for row in self.view("hot", "--group-by", "python")}
        self.assertIn("outer", names)

    def test_a_recorded_program_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = self.start(dwell, "run", "-o", os.path.join(folder, "r.dwell"), "--", hang)
            child = int(self.child_of(runner.pid))
            for pid in (runner.pid, child):
                self.assertIn("is recorded already, to ", self.attach(pid, status=1))
            os.kill(child, signal.SIGKILL)
            runner.wait(timeout=60)

    def test_bad_input(self):
        self.assertIn("dwell attach PID", self.attach("train.py", status=2))
        self.assertIn("give a number from 1 to 1000", self.attach(1, "--sample", "0", status=2))
        self.assertIn("there is no process 4194304", self.attach(4194304, status=1))
        self.assertFalse(os.path.exists(self.trace))

    @unittest.skipUnless(os.getuid() == 0, "only root can become another user")
    def test_another_user_gets_a_remedy(self):
        process = self.start(hang)
        os.chmod(os.path.dirname(self.trace), 0o777)
        text = self.attach(process.pid, status=1, user=65534, cwd="/")
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
