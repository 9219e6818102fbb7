"""What tools/check runs its suites with: counts and logs, the machine's cores, builds.

Suites run at the same time, each in a thread of its own. The commands that they start share
the machine's cores: a command waits until as many as it needs are free. So a suite that mostly
waits costs nobody anything, and none can overload the machine.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$", re.M)
SKIP = re.compile(r"^skip\s+(\S.*?)(?::|\s+[\d.]+ s)\s+(.+)$", re.M)
PROGRESS = re.compile(r"\[\d+/\d+\] (?:Compiling|Linking|Generating)")
# How many lines of a failed command's output are printed: TAIL when its suite ends, and LAST at the end of the whole run.
TAIL, LAST = 40, 8
# A command with this many cores runs alone, after the others.
ALONE = -1
# How many programs of tests may fail beside other suites and then pass alone. Other suites disturb them, on a slow machine more
# often. If more fail, the tests are at fault.
MOST_AGAIN = 10
# These compare times of programs with what was planted in them. Other suites disturb them more, and any of them may run again.
MEASURES = ("CUPTI", "PyTorch: bound", "PyTorch: loader", "PyTorch: loop", "PyTorch: places", "PyTorch: verdict", "Slurm", "call stacks",
            "foreign programs")
# The cores of a command that waits for half of its time: two of them share a core.
WAITS = .5
# A core that does nothing for so large a part of the time is lent to another command, until the cores do nothing for less
# than the small part.
IDLE, BUSY = .5, .1
# Compilers, sanitizers and other commands whose results do not depend on time use what the others leave idle. One for every two cores
# runs beside them at this lower priority, at which it takes at most a tenth of a core from a command that measures.
STEADY_PER_CORE, STEADY_NICE = .5, 8
BYTES_PER_CORE = 1 << 30


class Broken(Exception):
    """The suite cannot go on; what it did not run counts as one failure."""


def memory_available():
    """Bytes that programs can still have; None where the kernel does not say."""
    with contextlib.suppress(OSError):
        with open("/proc/meminfo", encoding="ascii") as file:
            found = re.search(r"^MemAvailable:\s+(\d+) kB", file.read(), re.M)
            return int(found.group(1)) * 1024 if found else None
    return None


def idle_seconds():
    """For how long the cores together have done nothing; None where the kernel does not say."""
    with contextlib.suppress(OSError):
        with open("/proc/stat", encoding="ascii") as file:
            return int(file.readline().split()[4]) / os.sysconf("SC_CLK_TCK")
    return None


class Machine:
    """Hands out cores. Whoever has the highest priority is first; nobody overtakes, so that a
    command that needs several cores gets them, but for one that takes the half of a core that the
    first cannot use. Commands that run alone are last."""

    def __init__(self, cores):
        available = memory_available()
        if available is not None:
            cores = max(1, min(cores, available // BYTES_PER_CORE))
        # Every command waits at times: one that waits for half of its time runs besides.
        self.cores, self.spare = cores, WAITS * (cores > 1)
        self.free = cores + self.spare
        self.lent, self.idle = 0, 0.0  # cores that are handed out a second time, because the commands that have them wait
        self.besides = max(1, int(cores * STEADY_PER_CORE)) if cores > 1 else 0  # steady commands that may begin without a core
        self.waiting = []  # (runs alone, -priority, number, cores)
        self.count = self.running = self.alone = 0
        self.began = self.counted = time.monotonic()
        self.unused = 0.0  # seconds of cores that no command had
        self.changed = threading.Condition()
        self.processes = set()

    def may_run(self, ticket):
        first = min(self.waiting)
        alone, _, _, cores = ticket
        if ticket != first and (first[0] or not self.free < first[3] <= 1):
            return False
        return self.running == 0 if alone else cores <= self.free

    def change(self, running, free):
        """A command begins or ends."""
        now = time.monotonic()
        self.unused += max(0, self.free - self.spare) * (now - self.counted)
        self.counted = now
        self.running += running
        self.free += free
        if running < 0 and self.idle < BUSY:  # what was lent comes back first
            back = min(self.lent, free)
            self.lent, self.free = self.lent - back, self.free - back
        self.changed.notify_all()

    def lend(self, idle):
        """Another command may begin where so much of a core did nothing for a while, though commands have it."""
        with self.changed:
            self.idle = idle
            if idle >= IDLE and self.waiting and not (self.alone or min(self.waiting)[0]) and self.lent < self.cores:
                self.lent += 1
                self.change(0, 1)

    def watch(self, seconds=2):
        """Lends cores for ever."""
        before = idle_seconds()
        while before is not None:
            time.sleep(seconds)
            now = idle_seconds()
            self.lend((now - before) / seconds)
            before = now

    def can_begin(self, ticket, steady):
        """Whether a command has its turn, or, if it is steady, a place besides."""
        return (steady and self.besides > 0 and not self.alone) or self.may_run(ticket)

    @contextlib.contextmanager
    def use(self, cores, priority, steady=False):
        """Yields whether the command runs besides."""
        with self.changed:
            self.count += 1
            alone = cores == ALONE
            # With one core there is one command at a time, but for those that need none.
            cores = self.cores if alone else min(cores and max(cores, self.cores == 1), self.cores)
            ticket = (alone, -priority, self.count, cores)
            self.waiting.append(ticket)
            self.changed.wait_for(lambda: self.can_begin(ticket, steady))
            self.waiting.remove(ticket)
            besides = steady and self.besides > 0
            cores = 0 if besides else cores
            self.besides -= besides
            self.alone += alone
            self.change(1, -cores)
        try:
            yield besides
        finally:
            with self.changed:
                self.besides += besides
                self.alone -= alone
                self.change(-1, cores)

    def stop_all(self):
        """Ends the commands that run, when the user has interrupted the check."""
        for process in list(self.processes):
            kill_group(process)


def kill_group(process):
    """Ends a command with everything that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def read_process(pid):
    """Parent, state, what the kernel waits for, and command of a process; None if it has ended."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, parent = file.read().rpartition(")")[2].split()[:2]
        with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
            place = file.read()
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            command = file.read().replace("\0", " ").strip()
        return int(parent), state, place, command
    return None


def processes_below(pid):
    """A line for a process and each of its descendants: what a command did when its time was over."""
    every = {int(name): read_process(name) for name in os.listdir("/proc") if name.isdigit()}
    wanted, lines = [pid], []
    while wanted:
        pid = wanted.pop(0)
        if every.get(pid):
            _, state, place, command = every[pid]
            lines.append(f"process {pid} {state} {place}: {command[:200]}")
        wanted += [other for other, about in every.items() if about and about[0] == pid]
    return "\n".join(lines)


def end_left(group):
    """Ends what a command that has ended left in its process group, and says what it was: it would have a core until the end."""
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            about = read_process(pid) if os.getpgid(int(pid)) == group else None
            if about and about[1] not in "ZX":
                left.append(f"left running: {about[3][:200]}\n")
    if left:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    return "".join(left)


def run_command(machine, command, environment, timeout):
    """Exit status, output, and seconds of processor time of a command."""
    left = []  # the processes of a command that took too long

    def stop(process):
        left.append(processes_below(process.pid))
        kill_group(process)

    # A process group of its own, but the caller's session: the kernel shares the processor
    # among sessions, and --busy must compete with each test.
    group = {"process_group": 0} if sys.version_info >= (3, 11) else {}
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT, **group)
        except OSError as error:
            return 127, f"{command[0]}: {error.strerror}\n", 0.0
        machine.processes.add(process)
        late = threading.Timer(timeout, stop, [process])
        late.start()
        started = time.monotonic()
        _, status, used = os.wait4(process.pid, 0)
        late.cancel()
        machine.processes.discard(process)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    if group:  # before the text, whose last line may be an answer
        text = end_left(process.pid) + text
    status = process.returncode
    if time.monotonic() - started >= timeout:
        status, text = 124, text + f"\nstopped after {timeout} s with these processes:\n{''.join(left)}\n"
    return status, text, used.ru_utime + used.ru_stime


def nicer(command):
    return ["nice", "-n", str(STEADY_NICE), *command]


class Suite:
    """One suite's counts and its log. `steady`: its results do not depend on time."""

    def __init__(self, name, folder, machine, priority=0, steady=False):
        self.name, self.machine, self.priority, self.steady = name, machine, priority, steady
        self.passed = self.failed = 0
        self.seconds = self.processor = 0.0
        self.skipped = []  # (what, why)
        self.failures = []  # (what, output)
        self.again = []     # what failed at first and passed alone
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, name + ".log")
        self.log = open(self.path, "w", encoding="utf-8")
        self.lock = threading.RLock()

    def write(self, text):
        with self.lock:
            self.log.write(text)
            self.log.flush()

    def add(self, what, status, output):
        """The counts of one program. Of several lines with counts the last one holds."""
        lines = COUNTS.findall(output)
        skips = SKIP.findall(output)
        if status == 77:
            why = skips[0][1] if skips else (output.strip().splitlines() or ["no reason given"])[-1]
            with self.lock:
                self.skipped.append((what, why))
            return
        if lines:
            passed, failed, skipped = (int(n or 0) for n in lines[-1])
            failed += passed + failed + skipped == 0  # it ran no test: it took its arguments for something else
        else:
            passed = len(re.findall(r"^ok\s", output, re.M))
            failed = len(re.findall(r"^FAIL\s", output, re.M))
            skipped = len(skips)
            if passed + failed == 0:
                passed = int(status == 0)
        # A crash after the line with counts, or without one failure in it, is a failure.
        if status != 0 and not failed:
            failed = 1
        with self.lock:
            self.passed += passed
            self.failed += failed
            self.skipped += [(f"{what}: {name}", why) for name, why in skips[:skipped]]
            self.skipped += [(what, "no reason given")] * max(0, skipped - len(skips))
            if failed:
                self.failures.append((what, output))

    def skip(self, what, why):
        self.skipped.append((what, why))
        self.write(f"skip {what}: {why}\n")

    def fail(self, what, output):
        with self.lock:
            self.failed += 1
            self.failures.append((what, output))

    def run(self, *command, env=None, timeout=900, cores=1, urgent=False):
        """Status and output of a command, which are in the log too. `urgent`: other suites wait
        for it, so that it does not run besides, though its suite be steady."""
        environment = dict(os.environ, **(env or {}))
        with self.machine.use(cores, float("inf") if urgent else self.priority, self.steady and not urgent and cores != ALONE) as besides:
            start = time.monotonic()
            status, output, processor = run_command(self.machine, nicer(command) if besides else command, environment, timeout)
            seconds = time.monotonic() - start
        with self.lock:
            self.processor += processor
        self.write("$ " + " ".join(command) + "\n" + output +
                   f"[exit status {status}, from {start - self.machine.began:.0f} s on {seconds:.1f} s, "
                   f"{processor:.1f} s of processor time]\n\n")
        return status, output

    def add_processor(self, what, seconds):
        """What ran beside the commands."""
        with self.lock:
            self.processor += seconds
        self.write(f"{what}: {seconds:.1f} s of processor time\n")

    def must(self, what, *command, **options):
        status, output = self.run(*command, **options)
        if status != 0:
            self.failures.append((what, output))
            raise Broken(what)
        return output

    def count(self, what, *command, **options):
        status, output = self.run(*command, **options)
        if status not in (0, 77):
            status, output = self.run_again(what, status, output, command, options)
        self.add(what, status, output)

    def run_again(self, what, status, output, command, options):
        """Status and output of a command that failed, run once more without other suites. A defect that shows
        only at times is not hidden: what passes only alone is named at the end, and few commands may."""
        again, text = self.run(*command, **{**options, "cores": ALONE})
        if again != 0:
            return status, output
        with self.lock:
            self.again.append(what)
        return again, text

    def side_by_side(self, calls):
        """Calls functions without arguments, each in a thread of its own."""
        errors = []

        def guarded(call):
            try:
                call()
            except Exception as error:  # the others go on
                errors.append(error)
        threads = [threading.Thread(target=guarded, args=[call]) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]

    def report(self):
        print(f"{self.name:<16} {self.passed:>6} passed {self.failed:>4} failed {len(self.skipped):>4} skipped "
              f"{self.seconds:>7.1f} s {self.processor:>7.1f} s of processor time", flush=True)
        for what, output in self.failures:
            print(f"  FAILED {what}; the whole log is {os.path.relpath(self.path, ROOT)}")
            for line in what_failed(output)[-TAIL:]:
                print("    " + line)
        sys.stdout.flush()


def what_failed(output):
    """The lines of a command's output without those about what passed, which would push the others out of sight."""
    return [line for line in output.rstrip().splitlines() if not PROGRESS.match(line) and not re.match(r"ok\s", line)]


def totals(suites):
    """"N passed, N failed, N skipped", how many failed, and how many passed only when they ran once more."""
    again = [what for each in suites for what in each.again]
    failed = sum(each.failed for each in suites) + max(0, sum(what not in MEASURES for what in again) - MOST_AGAIN)
    return (f"{sum(each.passed for each in suites)} passed, {failed} failed, {sum(len(each.skipped) for each in suites)} skipped",
            failed, len(again))


def name_failures(suites):
    """What failed, with the lines that say why: whoever sees only the end of the output needs them there."""
    for each in suites:
        for what, output in each.failures:
            print(f"FAILED {each.name}: {what}")
            for line in [line for line in what_failed(output) if not re.match(r"\s*skip\s", line)][-LAST:]:
                print("    " + line)
    again = [what for each in suites for what in each.again if what not in MEASURES]
    if len(again) > MOST_AGAIN:
        print(f"FAILED: {len(again)} programs of tests passed only alone; at most {MOST_AGAIN} may")


class Builds:
    """Builds of dwell that suites share, each made once, by the suite that asks first."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs = folder, jobs
        self.made = {}   # name: its folder, or None where it failed
        self.locks = {}
        self.lock = threading.Lock()

    def build(self, suite, name, *arguments, env=None, tests=(), but=()):
        """The folder of a build. `tests`: of it only what the tests of these suites of Meson's need, without those that
        are in one of the suites `but`, too. Builds come before all tests: they use every core, and a core that is kept
        free for them does nothing."""
        with self.lock:
            lock = self.locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self.made:
                self.made[name] = None
                self.made[name] = self.make(suite, name, arguments, env, tests, but)
        if self.made[name] is None:
            raise Broken(f"build {name} failed")
        return self.made[name]

    def make(self, suite, name, arguments, env, tests, but):
        folder = os.path.join(self.folder, name)
        if not os.path.exists(os.path.join(folder, "build.ninja")):
            shutil.rmtree(folder, ignore_errors=True)
            suite.must(f"configure {name}", "meson", "setup", folder, *arguments, env=env, urgent=True)
        targets = needed_by_tests(suite, folder, set(tests), set(but)) if tests else ()
        jobs = max(1, self.jobs // 2)
        # One more at a time than it has cores: a compiler that ccache stands in for waits for the disk.
        suite.must(f"build {name}", "ninja", "-C", folder, "-j", str(jobs + 1), "-k", "20",
                   *targets, timeout=1800, cores=jobs, urgent=True)
        return folder


def needed_by_tests(suite, folder, names, but, all_probes=False):
    """The files of a build that tests of these suites are or depend on."""
    suite.must("configure again what has changed", "ninja", "-C", folder, "build.ninja")
    made = {target["id"]: target["filename"] for target in
            json.loads(suite.must("list the targets", "meson", "introspect", "--targets", folder))}
    files = set()
    for test in json.loads(suite.must("list the tests", "meson", "introspect", "--tests", folder)):
        suites = {name.split(":")[-1] for name in test["suite"]}
        if suites & names and not suites & but:
            files.update(file for target in test["depends"] for file in made[target])
            files.add(test["cmd"][0])
    # dwell run loads these, and no test names them
    names = ("libdwell-attach.so", "libdwell-torch.so", "mpi/libdwell-mpi.so", "nccl/libdwell-nccl.so")
    loaded = {os.path.join(folder, "probes", name) for name in names if os.path.join(folder, "dwell") in files}
    probes = os.path.join(folder, "probes") + os.sep
    files.update(file for file in sum(made.values(), []) if file in loaded or all_probes and file.startswith(probes) and file.endswith(".so"))
    return sorted(os.path.relpath(file, folder) for file in files if file.startswith(folder + os.sep))


def meson_tests(suite, folder, *names, env=None, only=(), but=(), under=(), multiplier=1, jobs=1, cores=None,
                again=True):
    """The tests of Meson's suites `names` (of these `only` some, and none of the suites `but`), each
    counted by what it prints; all `under` a command that starts another. `jobs` of each run at the same time. One by default:
    the machine's other cores have other suites, and none waits until several cores are free. `again`: one that fails runs
    once more, without other suites."""
    def run(name):
        log = f"check-{name}"
        path = os.path.join(folder, "meson-logs", log + ".json")
        if os.path.exists(path):
            os.remove(path)
        status, output = suite.run(*under, "meson", "test", "-C", folder, "--no-rebuild", "--suite", name,
                                   "--logbase", log, "--timeout-multiplier", str(multiplier),
                                   "--num-processes", str(jobs), *(f"--no-suite={other}" for other in but), *only,
                                   env=env, timeout=1800, cores=jobs if cores is None else cores)
        if not os.path.exists(path) or not os.path.getsize(path):
            if status == 0:
                suite.skip(name, "no tests are registered in this build")
            else:
                suite.fail(name, output)
            return
        with open(path, encoding="utf-8") as file:
            tests = [json.loads(line) for line in file]
        for test in tests:
            if again and test["result"] in ("FAIL", "TIMEOUT"):
                write_meson_test(suite, test)  # what fails at times and passes alone has a cause: the log has it
                test = run_meson_test_again(suite, folder, test, env)
            count_meson_test(suite, test)
    suite.side_by_side([lambda name=name: run(name) for name in names])


def run_meson_test_again(suite, folder, test, env):
    """A test that failed, as it is after a run without other suites if it passes then."""
    name = test["name"].split(" / ")[-1]
    status, output = suite.run("meson", "test", "-C", folder, "--no-rebuild", "--logbase", "check-again", "--verbose",
                               name, env=env, timeout=1800, cores=ALONE)
    path = os.path.join(folder, "meson-logs", "check-again.json")
    if status != 0 or not os.path.exists(path):
        return test
    with open(path, encoding="utf-8") as file:
        passed = [json.loads(line) for line in file]
    if len(passed) != 1:
        return test
    with suite.lock:
        suite.again.append(name)
    return passed[0]


def write_meson_test(suite, test):
    text = (test.get("stdout") or "") + (test.get("stderr") or "") + "\ntimed out\n" * (test["result"] == "TIMEOUT")
    suite.write(f"---- {test['name']}: {test['result']}\n{text}\n")
    return text


def count_meson_test(suite, test):
    text = write_meson_test(suite, test)
    status = {"OK": 0, "EXPECTEDFAIL": 0, "SKIP": 77}.get(test["result"], 1)
    suite.add(test["name"].split(" / ")[-1], status, text)
