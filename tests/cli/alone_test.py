#!/usr/bin/env python3
"""A program under `dwell run` is as if it had been started alone: what it inherits, its signals, stops and end.

usage: alone_test.py DWELL ALONE [PART-OF-A-NAME...]      last line: N passed, N failed, N skipped
"""
import ctypes
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

DWELL, ALONE = (os.path.abspath(path) for path in sys.argv[1:3])
LIMIT = 60  # seconds, of what takes milliseconds
ADDED = re.compile(r"variable_(?:DWELL_|LD_PRELOAD=|NCCL_PROFILER_PLUGIN=|INTEL_LIBITTNOTIFY64=|ONEDNN_ITT_TASK_LEVEL=|"
                   r"NVTX_INJECTION64_PATH=|CUDA_INJECTION64_PATH=|_=)")
# None ends or stops a process unasked, is blocked, or is used by a C library.
SIGNALS = sorted(set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGCHLD, signal.SIGTERM})


def under(*program):
    return [DWELL, "run", "-o", "t.dwell", *program]


def wait_until(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(what)
        time.sleep(0.002)


def status_of(pid, options=0):
    """As os.waitpid(), but ends with the test."""
    found = []
    wait_until(lambda: found or found.extend(status for got, status in [os.waitpid(pid, options | os.WNOHANG)] if got), "no change")
    return found[0]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


class Alone(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="dwell-alone-")
        os.chdir(self.folder.name)

    def tearDown(self):
        os.chdir("/")
        self.folder.cleanup()

    def inherited(self, *command, before, closed=()):
        """The program's status and what it says of itself."""
        def prepare():
            before()
            for fd in closed:
                os.close(fd)

        done = subprocess.run([*command, "show", "shown"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              preexec_fn=prepare, close_fds=False, timeout=LIMIT, check=False)
        with open("shown", encoding="utf-8") as file:
            return [done.returncode, *(line for line in file.read().splitlines() if not ADDED.match(line))]

    def test_what_it_inherits(self):
        def ignore(*signals):
            for each in signals:
                signal.signal(each, signal.SIG_IGN)

        def descriptors():
            os.dup2(1, 5)
            os.dup2(1, 66)

        for name, before in {
                "nothing": lambda: None,
                "ignored": lambda: ignore(signal.SIGHUP, signal.SIGINT, signal.SIGBUS, signal.SIGCHLD, signal.SIGTSTP, signal.SIGRTMIN + 3),
                "blocked": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1, signal.SIGRTMAX]),
                "alarm": lambda: signal.setitimer(signal.ITIMER_REAL, 50, 7),
                "descriptors": descriptors,
                "nice": lambda: (os.nice(5), os.umask(0o027)),
                "session": os.setsid,
                "files": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16)),
                "core": lambda: resource.setrlimit(resource.RLIMIT_CORE, (4096, 8192)),
                "cpus": lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),
        }.items():
            self.same(name, before)
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            self.same(closed, lambda: None, closed)

    def same(self, name, before, closed=()):
        with self.subTest(name):
            plain, other = self.inherited(ALONE, before=before, closed=closed), self.inherited(*under(ALONE), before=before, closed=closed)
            self.assertEqual((plain[0], plain.count("death_signal 0"), other.count("death_signal 9")), (7, 1, 1))
            other[other.index("death_signal 9")] = "death_signal 0"
            # If `dwell run` leads a session, the program does not.
            expected = ["group 1", "session 1"] if name == "session" else []
            self.assertEqual([line for line in plain if line not in other], expected)
            self.assertEqual([line for line in other if line not in plain], [line.replace("1", "0") for line in expected])

    def test_how_it_ends(self):
        for words in (["true"], ["sh", "-c", "exit 255"], *([ALONE, "die", str(number)] for number in (2, 6, 9, 11, 13, 14, 24, 31, 37, 64))):
            with self.subTest(words):
                done = subprocess.run(under(*words), stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
                self.assertEqual(done.returncode, {"true": 0, "sh": 255}[words[0]] if words[0] != ALONE else -int(words[-1]))
                self.assertIn("recorded to", done.stderr)
        # By the exit status of a shell's report, which has no mark of a core of dwell.
        pid = os.posix_spawn(DWELL, under(ALONE, "die", "11"), os.environ)
        self.assertEqual(status_of(pid), 11)

    def start(self):
        """As a shell starts a job: in a process group of its own, which can be stopped."""
        run = subprocess.Popen(under(ALONE, "receive"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=os.setpgrp)
        return run, int(run.stdout.readline())

    def end(self, run):
        """The signals that the program got."""
        os.kill(run.pid, signal.SIGTERM)
        lines = []
        while not lines or not lines[-1].startswith("15 "):
            lines.append(run.stdout.readline())
        os.kill(run.pid, signal.SIGTERM)
        rest = run.communicate(timeout=LIMIT)[0].splitlines()
        self.assertEqual(rest, ["15 0"])
        self.assertEqual(run.returncode, 0)
        return [line.split() for line in lines[:-1]]

    def test_signals(self):
        run, _ = self.start()
        for each in SIGNALS:
            os.kill(run.pid, each)
            self.assertEqual(run.stdout.readline().split(), [str(int(each)), "0"])
        queue = ctypes.CDLL(None).sigqueue
        self.assertEqual(queue(run.pid, ctypes.c_int(signal.SIGRTMIN), ctypes.c_void_p(4711)), 0)
        self.assertEqual(run.stdout.readline().split(), [str(int(signal.SIGRTMIN)), "4711"])
        self.assertEqual(self.end(run), [])

    def test_killed(self):
        run, program = self.start()
        run.kill()
        run.communicate(timeout=LIMIT)
        wait_until(lambda: not is_running(program), "the program goes on")

    def test_stopped(self):
        for number in (signal.SIGTSTP, signal.SIGSTOP):
            run, program = self.start()
            os.kill(program if number == signal.SIGSTOP else run.pid, number)
            status = status_of(run.pid, os.WUNTRACED)
            self.assertTrue(os.WIFSTOPPED(status) and os.WSTOPSIG(status) == number, status)
            os.kill(run.pid, signal.SIGCONT)
            self.assertEqual(run.stdout.readline(), "18 0\n")
            self.assertEqual(self.end(run), [])

    def test_little(self):
        """With limits that the program itself is content with."""
        for name, limit, value in (("stack", resource.RLIMIT_STACK, 80 << 10), ("files", resource.RLIMIT_NOFILE, 5), ("files", resource.RLIMIT_NOFILE, 4)):
            with self.subTest((name, value)):
                done = subprocess.run(under("sh", "-c", "echo here; exit 3"), capture_output=True, text=True, timeout=LIMIT, check=False,
                                      preexec_fn=lambda at=limit, bytes=value: resource.setrlimit(at, (bytes, bytes)))
                self.assertEqual((done.returncode, done.stdout), (3, "here\n"), done.stderr)
                self.assertRegex(done.stderr, "^dwell: recorded to .*\n$")
                self.assertEqual(subprocess.run([DWELL, "info", "t.dwell"], stdout=subprocess.DEVNULL, timeout=LIMIT, check=False).returncode, 0)

    def test_an_alarm_that_was_set_before(self):
        done = subprocess.run(under("sleep", "30"), stderr=subprocess.PIPE, timeout=LIMIT, check=False,
                              preexec_fn=lambda: signal.setitimer(signal.ITIMER_REAL, 0.3))
        self.assertEqual(done.returncode, -signal.SIGALRM)

    def test_interrupted_loop(self):
        """Ctrl-C ends a loop of a shell."""
        loop = f"for i in 1 2 3; do echo round $i; '{DWELL}' run -o t.dwell sleep 30; done; echo went on"
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvp("bash", ["bash", "-c", loop])
        shown, end = b"", time.monotonic() + LIMIT
        while time.monotonic() < end:
            ready = select.select([terminal], [], [], 0.1)[0]
            try:
                shown += os.read(terminal, 4096) if ready else b""
            except OSError:
                break
            if b"round" in shown and b"^C" not in shown and os.path.exists("t.dwell"):
                time.sleep(0.2)
                os.write(terminal, b"\x03")
        os.waitpid(pid, 0)
        os.close(terminal)
        self.assertTrue(b"round 1" in shown and b"round 2" not in shown and b"went on" not in shown, shown)


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0], *(word for name in sys.argv[3:] for word in ("-k", name))], exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
