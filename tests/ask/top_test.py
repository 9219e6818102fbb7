#!/usr/bin/env python3
"""dwell top on running programs of known steps: one state as text, and in a terminal of tmux.

usage: top_test.py DWELL LIVE [PART-OF-A-NAME...]

The last line is "N passed, N failed, N skipped".
"""
import json
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

dwell, live = (os.path.abspath(path) for path in sys.argv[1:3])
FORWARD_MS, BACKWARD_MS = 30, 10
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}


def run(*command, status=0, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180,
                          env=ENVIRONMENT, stdin=subprocess.DEVNULL, **options)
    if done.returncode != status:
        raise AssertionError(f"{command}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not seen in {seconds} s: {what}")
        time.sleep(0.1)


class Program:
    """A running program; its trace has at least 20 steps."""

    def __init__(self, folder, name="train", stop_after=None):
        self.trace = os.path.join(folder, name + ".dwell")
        arguments = [] if stop_after is None else [str(stop_after)]
        self.process = subprocess.Popen([live, self.trace, str(FORWARD_MS), str(BACKWARD_MS), *arguments])
        wait_until(lambda: self.steps() >= (20 if stop_after is None else stop_after), "steps of the program")

    def steps(self):
        if not os.path.exists(self.trace):
            return 0
        done = subprocess.run([dwell, "top", "--once", self.trace], capture_output=True, text=True, check=False,
                              env=ENVIRONMENT)
        found = re.search(r"([\d,]+) step", done.stdout)
        return int(found[1].replace(",", "")) if found else 20 if "no record for" in done.stdout else 0

    def end(self):
        self.process.kill()
        self.process.wait()


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="dwell-top-")
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def program(self, *arguments, **options):
        program = Program(self.folder, *arguments, **options)
        self.addCleanup(program.end)
        return program


class Once(Folder):
    def test_figures_are_those_of_the_program(self):
        """How long a sleep takes is the machine's: the figures are those of the same steps in the trace, and sleeps are not shorter than asked."""
        program = self.program()
        time.sleep(1)
        text = run(dwell, "top", "--once", program.trace).stdout
        self.assertRegex(text, rf"^ask_live  pid {program.process.pid}  running for ")
        time.sleep(10 * (FORWARD_MS + BACKWARD_MS) / 1000)  # the step that was open then must end before the program is killed
        steps, rate, median = (float(number) for number in re.search(r"(?m)^(\d+) steps +([\d.]+)/s .* median ([\d.]+) ms", text).groups())
        program.end()
        zones = {"forward": [], "backward": []}
        for event in json.loads(run(dwell, "export", "-f", "chrome", "-o", "/dev/stdout", program.trace).stdout)["traceEvents"]:
            if event["ph"] == "X" and event["name"] in zones:
                zones[event["name"]].append(event)
        both = [(one, other) for one, other in zip(zones["forward"], zones["backward"])][:int(steps)]
        took = [(other["ts"] + other["dur"] - one["ts"]) / 1000 for one, other in both]
        self.assertLess(min(took), 10 * (FORWARD_MS + BACKWARD_MS))
        self.assertGreaterEqual(min(took), FORWARD_MS + BACKWARD_MS)
        self.assertLess(abs(median / statistics.median(took) - 1), 0.1, text)
        self.assertLess(abs(rate * (both[-1][1]["ts"] + both[-1][1]["dur"] - both[0][0]["ts"]) / 1e6 / steps - 1), 0.2, text)
        shares = [100 * sum(event["dur"] for event in pair) / sum(took) / 1000 for pair in zip(*both)]
        for name, share in zip(zones, shares):
            self.assertLess(abs(float(re.search(rf"{name} (\d+)%", text)[1]) - share), 5, (text, shares))
        self.assertRegex(text, r"CPU \d+%  memory .*  \d+ threads?  trace .*nothing lost")
        self.assertRegex(text, r"(?m)^convolution +\d+ ")
        self.assertNotIn("\033", text)

    def test_a_process_is_as_good_as_its_trace(self):
        program = self.program()
        self.assertIn("convolution", run(dwell, "top", "--once", str(program.process.pid)).stdout)
        # a launcher: the program is its child
        path = os.path.join(self.folder, "child.dwell")
        shell = subprocess.Popen(["sh", "-c", f"{shlex.quote(live)} {path} {FORWARD_MS} {BACKWARD_MS} & wait"])
        try:
            wait_until(lambda: os.path.exists(path), "the child's trace")
            wait_until(lambda: "convolution" in subprocess.run(
                [dwell, "top", "--once", str(shell.pid)], capture_output=True, text=True, check=False).stdout,
                "the child's operators")
        finally:
            subprocess.run(["pkill", "-KILL", "-P", str(shell.pid)], check=False)
            shell.kill()
            shell.wait()

    def test_what_a_process_cannot_be_asked_for(self):
        idle = subprocess.Popen(["sleep", "60"])
        try:
            self.assertIn("writes no trace: start the program with dwell run",
                          run(dwell, "top", "--once", str(idle.pid), status=1).stderr)
        finally:
            idle.kill()
            idle.wait()
        self.assertIn("there is no process", run(dwell, "top", "--once", str(idle.pid), status=1).stderr)
        if os.geteuid() == 0 and shutil.which("setpriv"):
            done = run("setpriv", "--reuid", "65534", "--clear-groups", dwell, "top", "--once", str(os.getpid()), status=1)
            self.assertIn("belongs to another user: give the path of its trace", done.stderr)
        self.assertIn("cannot open", run(dwell, "top", "--once", "nothing.dwell", status=1, cwd=self.folder).stderr)

    def test_a_silent_program_says_where_it_is(self):
        program = self.program(stop_after=25)
        text = wait_until(lambda: (lambda text: text if "no record for" in text else "")(
            run(dwell, "top", "--once", program.trace).stdout), "silence")
        self.assertRegex(text, r"no record for [\d.]+ m?s, inside (step \d+ > )?backward > all_reduce")

    def test_a_trace_that_has_ended(self):
        program = self.program()
        program.end()
        text = run(dwell, "top", "--once", program.trace).stdout
        self.assertIn("ended after", text)
        self.assertIn("convolution", text)
        self.assertIn("CPU", run(dwell, "top", "--help").stdout)

    def test_a_thread_that_is_idle_in_this_time(self):
        program = self.program()
        time.sleep(1.5)
        self.assertIn("start_up", run(dwell, "top", "--once", "--last", "all", program.trace).stdout)
        text = run(dwell, "top", "--once", "--last", "1s", "--view", "threads", program.trace).stdout
        self.assertIn("2 threads", text)
        self.assertNotIn("overwritten", text)
        self.assertNotIn("start_up", run(dwell, "top", "--once", "--last", "1s", program.trace).stdout)

    def test_without_a_terminal(self):
        program = self.program()
        self.assertIn("not a terminal; dwell top --once prints one state",
                      run(dwell, "top", program.trace, status=2).stderr)


@unittest.skipUnless(shutil.which("tmux"), "tmux is missing")
class Terminal(Folder):
    COLUMNS, ROWS = 80, 24

    def setUp(self):
        super().setUp()
        self.socket = os.path.join(self.folder, "tmux")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(self.COLUMNS), "-y", str(self.ROWS),
                  "env PS1='ready> ' LC_ALL=C.UTF-8 sh")
        self.addCleanup(self.tmux, "kill-server")
        wait_until(lambda: "ready>" in self.screen(), "a shell")

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-S", self.socket, *arguments], capture_output=True, text=True, check=True,
                              env=ENVIRONMENT).stdout

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    def sees(self, text, seconds=60):
        end = time.monotonic() + seconds
        while not re.search(text, screen := self.screen()):
            if time.monotonic() > end:
                self.fail(f"not seen: {text}; the screen has\n{screen}")
            time.sleep(0.1)
        return screen

    def start(self, trace, *arguments):
        self.type(f"before=$(stty -g); {shlex.quote(dwell)} top {' '.join(arguments)} {trace}", "Enter")
        return self.sees(r"Quit\s*$")

    def terminal_is_restored(self, status):
        self.sees(r"ready>\s*\Z")
        self.type("s=$?; clear; echo end $s $(test \"$before\" = \"$(stty -g)\" && echo same)", "Enter")
        self.sees(rf"(?m)^end {status} same$")
        cursor = self.tmux("display-message", "-p", "#{cursor_flag} #{alternate_on}")
        self.assertEqual("1 0", cursor.strip())

    def pid(self):
        return int(subprocess.run(["pgrep", "-n", "-f", f"^{re.escape(dwell)} top"], capture_output=True, text=True,
                                  check=True).stdout)

    def test_the_screen_and_its_keys(self):
        program = self.program()
        screen = self.start(program.trace)
        lines = screen.rstrip("\n").split("\n")
        self.assertEqual(self.ROWS, len(lines), screen)
        self.assertTrue(lines[0].startswith("ask_live  pid"), screen)
        self.assertRegex(lines[0], r"(last|all) [\d.]+ m?s$")
        self.assertEqual(self.COLUMNS, len(lines[3]), screen)  # the bar
        self.type("p")
        self.sees(r"(?m)^phase .*\n")
        self.type("o", "\\", "BACK")
        self.sees("Filter: BACK")
        self.type("Enter")
        screen = self.sees('with "BACK"')
        self.assertNotRegex(screen, r"(?m)^convolution ")
        self.assertRegex(screen, r"(?m)^matmul_backward ")
        self.type("Escape")
        self.sees(r"(?m)^convolution ")
        self.type("\\", "nothing", "Enter")
        self.sees('No row contains "nothing"')
        self.type("Escape", "F6")
        self.sees("by calls")
        self.sees(r"(?m)^matmul_backward .*\n.*convolution")
        self.type("F1")
        self.sees("remove the filter")
        self.type("F1", "Space")
        self.sees("paused")
        steps = re.search(r"([\d,]+) steps", self.screen())[1]
        time.sleep(2.2)
        self.assertEqual(steps, re.search(r"([\d,]+) steps", self.screen())[1])
        self.type("Space", "t", "Enter")
        self.sees(r"thread \d+")
        self.type("Escape")
        self.type("k")
        self.sees("has no .*device")
        self.type("F10")
        self.terminal_is_restored(0)

    def test_before_the_first_step(self):
        """A program that starts, as one that imports, has no operators yet: nothing is wrong with its marks."""
        trace = os.path.join(self.folder, "start.dwell")
        program = subprocess.Popen([dwell, "run", "-o", trace, "--", sys.executable, "-c", "import time\nprint(flush=True)\ntime.sleep(60)"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            program.stdout.readline()
            wait_until(lambda: "no step yet" in subprocess.run([dwell, "top", "--once", "-v", "operators", trace], capture_output=True, text=True).stdout, "the trace")
            seen = subprocess.run([dwell, "top", "--once", "-v", "operators", trace], capture_output=True, text=True).stdout
            self.assertIn("No operators yet, and no step has begun.", seen)
            self.assertNotIn("DWELL_STEP", seen)
        finally:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()

    def test_before_the_first_record(self):
        trace = os.path.join(self.folder, "quiet.dwell")
        runner = subprocess.Popen([dwell, "run", "-o", trace, "--", "sleep", "30"], stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: os.path.exists(trace) and os.path.getsize(trace), "the trace")
            wait_until(lambda: "recorded nothing yet" in subprocess.run([dwell, "top", "--once", trace], capture_output=True, text=True).stdout, "the program")
            text = run(dwell, "top", "--once", trace).stdout
            self.assertIn("running for", text)
            self.assertNotIn("--sample", text)
        finally:
            runner.terminate()
            runner.wait()

    def test_it_follows_the_program(self):
        program = self.program()
        self.start(program.trace, "--every", "200ms")
        first = int(re.search(r"([\d,]+) steps", self.screen())[1].replace(",", ""))
        wait_until(lambda: int(re.search(r"([\d,]+) steps", self.screen())[1].replace(",", "")) > first + 20, "more steps")
        self.sees(r"CPU \d+%")
        program.end()
        self.sees("ended after")
        os.unlink(program.trace)
        self.sees("the trace was deleted")
        other = self.program()
        self.sees(rf"pid {other.process.pid}  running for")
        self.type("q")
        self.terminal_is_restored(0)

    def test_the_terminal_is_restored_on_every_exit(self):
        program = self.program()
        for how, status in (("C-c", 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGSEGV, 139),
                            (signal.SIGABRT, 134), (signal.SIGBUS, 1)):
            with self.subTest(how):
                self.start(program.trace)
                if isinstance(how, str):
                    self.type(how)
                else:
                    os.kill(self.pid(), how)
                self.terminal_is_restored(status)

    def test_stopped_and_continued(self):
        program = self.program()
        self.start(program.trace)
        self.type("C-z")
        self.sees(r"ready>\s*\Z")
        self.type("clear; fg", "Enter")
        self.sees(r"Quit\s*$")
        self.type("q")
        self.terminal_is_restored(0)

    def test_small_and_odd_terminals(self):
        program = self.program()
        self.start(program.trace)
        for columns, rows in ((40, 10), (20, 4), (200, 50), (80, 24)):
            self.tmux("resize-window", "-x", str(columns), "-y", str(rows))
            self.sees("ask_live")
            time.sleep(1.3)
            screen = self.screen()
            self.assertTrue(screen.startswith("ask_live"), (columns, rows, screen))
            self.assertIn("operators", screen.rstrip("\n").split("\n")[-1])
        self.type("q")
        self.terminal_is_restored(0)
        self.type(f"clear; TERM=dumb {shlex.quote(dwell)} top {program.trace}", "Enter")
        self.sees("cannot move its cursor")

    def test_it_costs_little(self):
        program = self.program()
        self.start(program.trace)
        pid = self.pid()

        def cpu():
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))

        before = cpu()
        time.sleep(6)
        # asked: 1%; a busy machine and ticks of 10 ms make it more
        self.assertLessEqual(cpu() - before, 6 * 3)
        self.type("q")


if __name__ == "__main__":
    names = sys.argv[3:]
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    tests = [test for group in suite for test in group if not names or any(name in test.id() for name in names)]
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(tests))
    failed = len({test.id() for test, _ in result.failures + result.errors})
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)
