#!/usr/bin/env python3
"""A program under `dwell run` is as if it had been started alone: what it inherits, its signals, stops and end.

usage: alone_test.py DWELL ALONE SANITIZER [PART-OF-A-NAME...]      last line: N passed, N failed, N skipped
"""
import ctypes
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

DWELL, ALONE = (os.path.abspath(path) for path in sys.argv[1:3])
SANITIZED = sys.argv[3] != "none"  # then no library of dwell is loaded into programs
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


def pending(pid):
    """The signals that a process has not taken."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return int(re.search(r"^ShdPnd:\s*(\w+)", file.read(), re.M)[1], 16)


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

    def test_the_program_is_continued_alone(self):
        run, program = self.start()
        os.kill(program, signal.SIGSTOP)
        self.assertTrue(os.WIFSTOPPED(status_of(run.pid, os.WUNTRACED)))
        os.kill(program, signal.SIGCONT)
        self.assertEqual(run.stdout.readline(), "18 0\n")
        self.assertTrue(os.WIFCONTINUED(status_of(run.pid, os.WCONTINUED)))
        self.assertEqual(self.end(run), [])

    @unittest.skipIf(SANITIZED, "a sanitizer ends by its own handlers, and needs a larger stack and descriptors")
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
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)  # first
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

    def test_signals_of_the_group(self):
        """Who signals the whole process group, as a shell does a job, interrupts the program once."""
        run, _ = self.start()
        for each in (signal.SIGINT, signal.SIGUSR1, signal.SIGCONT, signal.SIGHUP, signal.SIGRTMIN):
            os.killpg(run.pid, each)
            os.kill(run.pid, signal.SIGUSR2)
            got = [run.stdout.readline().split()[0] for _ in range(2)]
            self.assertEqual(sorted(got), sorted([str(int(each)), str(int(signal.SIGUSR2))]))
            wait_until(lambda: not pending(run.pid), "signals are not taken")
            os.kill(run.pid, each)  # and to dwell run alone
            self.assertEqual(run.stdout.readline().split()[0], str(int(each)))
        os.killpg(run.pid, signal.SIGSTOP)
        self.assertTrue(os.WIFSTOPPED(status_of(run.pid, os.WUNTRACED)))
        os.killpg(run.pid, signal.SIGCONT)
        self.assertEqual(run.stdout.readline().split()[0], "18")
        self.assertEqual(self.end(run), [])

    def test_a_signal_to_the_parent(self):
        """What the program sends to its parent process reaches the one that started `dwell run`."""
        told = []
        for each in (signal.SIGUSR1, signal.SIGUSR2):
            self.addCleanup(signal.signal, each, signal.signal(each, lambda number, frame: told.append(number)))
        done = subprocess.run(under("sh", "-c", "kill -USR1 $PPID; kill -USR2 0"), capture_output=True, timeout=LIMIT, check=False,
                              preexec_fn=os.setpgrp)
        self.assertEqual((done.returncode, told), (-signal.SIGUSR2, [signal.SIGUSR1]), done.stderr)

    def test_stopped_from_outside(self):
        run, program = self.start()
        os.kill(run.pid, signal.SIGSTOP)
        def state():
            with open(f"/proc/{program}/stat", encoding="ascii") as file:
                return file.read().rpartition(")")[2].split()[0]
        wait_until(lambda: state() == "T", "the program goes on")
        os.kill(run.pid, signal.SIGCONT)
        self.assertEqual(run.stdout.readline().split()[0], "18")
        self.assertIn(state(), "RS")
        self.assertEqual(self.end(run), [])

    def test_no_file_stays_open(self):
        """A pipe of the program is closed when `dwell run` is killed."""
        run, _ = self.start()
        run.kill()
        self.assertEqual(run.stdout.read(), "")
        run.wait()

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

    @unittest.skipIf(SANITIZED, "a sanitizer ends by its own handlers, and needs a larger stack and descriptors")
    def test_little(self):
        """With limits that the program itself is content with."""
        for name, limit, value in (("stack", resource.RLIMIT_STACK, 80 << 10), ("files", resource.RLIMIT_NOFILE, 5), ("files", resource.RLIMIT_NOFILE, 4)):
            with self.subTest((name, value)):
                done = subprocess.run(under("sh", "-c", "echo here; exit 3"), capture_output=True, text=True, timeout=LIMIT, check=False,
                                      preexec_fn=lambda at=limit, bytes=value: resource.setrlimit(at, (bytes, bytes)))
                self.assertEqual((done.returncode, done.stdout), (3, "here\n"), done.stderr)
                self.assertRegex(done.stderr, "^dwell: recorded to .*\n$")
                self.assertEqual(subprocess.run([DWELL, "info", "t.dwell"], stdout=subprocess.DEVNULL, timeout=LIMIT, check=False).returncode, 0)

    def said_of(self, command, trace="t.dwell"):
        """The last line of a run whose program does this with its trace."""
        done = subprocess.run([DWELL, "run", "-o", trace, "--", "env", "-u", "LD_PRELOAD", "-u", "DWELL_TRACE", "sh", "-c", command + "; exit 5"],
                              stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 5, done.stderr)
        return done.stderr.splitlines()[-1]

    def test_what_becomes_of_the_trace(self):
        here = os.getcwd()
        self.assertEqual(self.said_of("true"), f"dwell: recorded to {here}/t.dwell (dwell report {here}/t.dwell)")
        self.assertEqual(self.said_of("mv t.dwell 'a b.dwell'"), f"dwell: recorded to {here}/a b.dwell, to which it was moved from "
                         f"{here}/t.dwell (dwell report '{here}/a b.dwell')")
        self.assertEqual(subprocess.run([DWELL, "info", "a b.dwell"], stdout=subprocess.DEVNULL, timeout=LIMIT, check=False).returncode, 0)
        self.assertEqual(self.said_of("rm t.dwell"), f"dwell: there is no trace: {here}/t.dwell was removed while the program ran")
        self.assertFalse(os.path.exists("t.dwell"))
        self.assertEqual(self.said_of("echo mine > mine; mv -f mine t.dwell"),
                         f"dwell: there is no trace: another file was put in the place of {here}/t.dwell while the program ran")
        with open("t.dwell", encoding="ascii") as file:
            self.assertEqual(file.read(), "mine\n")
        os.unlink("t.dwell")
        for command in (": > t.dwell", "cp 'a b.dwell' t.dwell", "truncate -s 100 t.dwell"):
            self.assertEqual(self.said_of(command), f"dwell: the trace is damaged: {here}/t.dwell was cut or written over while the program "
                             f"ran; what is left: dwell report {here}/t.dwell")

    def test_odd_names(self):
        """The command that is shown reads the trace, whatever its name is."""
        for name in ("a b", "q'\"q", "new\nline", "\u00fcml\u00e4ut", "c:d", "$x\\", b"\xff", " lead"):
            name = os.fsencode(name)
            folder = os.path.join(os.fsencode(self.folder.name), name)
            os.mkdir(folder)
            done = subprocess.run([DWELL, "run", "-o", name + b".dwell", "true"], cwd=folder, stderr=subprocess.PIPE, timeout=LIMIT, check=False)
            command = re.search(rb"\((dwell report .*)\)\n$", done.stderr)[1]
            self.assertEqual(os.listdir(folder), [name + b".dwell"])
            self.assertEqual(subprocess.run(["bash", "-c", command], env={**os.environ, "PATH": os.path.dirname(DWELL) + ":/usr/bin:/bin"},
                                            stdout=subprocess.DEVNULL, timeout=LIMIT, check=False).returncode, 0, done.stderr)

    def test_odd_folders_of_the_command(self):
        """LD_PRELOAD is split at spaces and colons."""
        for name in ("John Doe", "a:b", "$LIB"):
            os.mkdir(name)
            shutil.copy(DWELL, name)
            os.symlink(os.path.join(os.path.dirname(DWELL), "probes"), os.path.join(name, "probes"))
            done = subprocess.run([os.path.join(name, "dwell"), "run", "-o", "t.dwell", "cat", "/proc/self/maps"], capture_output=True,
                                  text=True, timeout=LIMIT, check=False)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, "^dwell: recorded to .*\n$")
            for library in ("attach", "sampler"):
                self.assertEqual(SANITIZED or f"/libdwell-{library}.so\n" in done.stdout, True, done.stdout)

    def test_a_removed_folder(self):
        os.mkdir("gone")
        for words, status, said in (([], 0, "this folder was removed; recording to "), (["-o", "x.dwell"], 125, "the working folder was removed")):
            done = subprocess.run(["sh", "-c", 'cd gone && rmdir ../gone && exec "$@"', "sh", DWELL, "run", *words, "true"],
                                  env={**os.environ, "TMPDIR": self.folder.name}, stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
            self.assertEqual(done.returncode, status)
            self.assertIn(said, done.stderr)
            os.mkdir("gone")

    def test_a_short_run_that_is_always_recorded(self):
        done = subprocess.run([DWELL, "run", "--always", "-o", "t.dwell", "true"], stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
        self.assertRegex(done.stderr, "^dwell: recorded to .*\n$")

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
    result = unittest.main(argv=[sys.argv[0], *(word for name in sys.argv[4:] for word in ("-k", name))], exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
