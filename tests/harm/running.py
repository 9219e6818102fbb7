"""Runs programs without and with dwell and compares what they print and how they end."""
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time

MODES = {
    "default": [], "malloc": ["--memory=malloc"], "always": ["--always"], "sample 1000": ["--sample", "1000"], "perf": ["--sample=perf"],
}
ATTACH = "attach"
LONG = 10  # seconds that a program may take, or LONGER times what it takes without dwell
LONGER = 5
ATTACH_FIRST = 20  # seconds until dwell attach says that it records
ENVIRONMENT = {"LANG": "C.UTF-8", "TERM": "xterm", "SHELL": "/bin/bash", "USER": "user", "HARM": "1"}
NUMBER = re.compile(r"^~ (.*) (-?\d+) (\d+)$")


class Result:
    """How a run ended: a wait status or None if it took too long, what it printed, and the files that it left."""

    def __init__(self, status, output, errors, files, seconds, left):
        self.status, self.output, self.errors, self.files, self.seconds, self.left = status, output, errors, files, seconds, left

    def ending(self):
        if self.status is None:
            return "did not end in time"
        if os.WIFSIGNALED(self.status):
            number = os.WTERMSIG(self.status)
            return f"signal {number} ({signal.Signals(number).name})" if number < 32 else f"signal {number}"
        return f"exit status {os.WEXITSTATUS(self.status)}"

    def number(self):
        """What a shell calls the status."""
        return None if self.status is None else 128 + os.WTERMSIG(self.status) if os.WIFSIGNALED(self.status) else os.WEXITSTATUS(self.status)


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20)
    except OSError:
        return ""


def without_dwell(text):
    """The lines that are not from dwell itself."""
    return "".join(line for line in text.splitlines(True) if not line.startswith("dwell: "))


def comparable(text, folder):
    """Without what is not the same each time: the folder, addresses, and numbers of processes in the messages of shells."""
    text = re.sub("0x[0-9a-f]{6,}", "ADDRESS", text.replace(folder, "FOLDER"))
    return re.sub(r"(line \d+:) +\d+ ", r"\1 PROCESS ", text)


def difference(what, plain, other):
    """A sentence with the first lines that differ, or None. Lines of numbers may differ by what they permit."""
    left, right = plain.splitlines(), other.splitlines()
    for at in range(max(len(left), len(right))):
        one = left[at] if at < len(left) else "(no line)"
        two = right[at] if at < len(right) else "(no line)"
        first, second = NUMBER.match(one), NUMBER.match(two)
        if first and second and first.group(1) == second.group(1) and int(second.group(2)) <= int(first.group(2)) + int(first.group(3)):
            continue
        if one != two:
            return f"{what} line {at + 1}: {one[:200]!r}, with dwell {two[:200]!r}"
    return None


def compare(plain, other):
    """What differs, as sentences."""
    found = []
    if other.number() != plain.number():
        found.append(f"ends by {plain.ending()}, with dwell by {other.ending()}")
    found += [difference("output", plain.output, other.output), difference("errors", plain.errors, other.errors),
              difference("files", "\n".join(plain.files), "\n".join(other.files))]
    if plain.left != other.left:
        found.append(f"processes that stay: {plain.left}, with dwell {other.left}")
    return [one for one in found if one]


class Runner:
    """Runs a program in a mode, in a folder of its own."""

    def __init__(self, dwell, harm):
        self.dwell, self.harm = dwell, harm
        self.plain, self.locks, self.guard = {}, {}, threading.Lock()

    def command(self, program, mode, trace):
        """The command in a mode; mode None is without dwell."""
        run = [] if mode in (None, ATTACH) else [self.dwell, "run", *MODES[mode], "-o", trace, "--"]
        if program.around:
            count = itertools.count(1)
            text = re.sub("RUN ", lambda _: " ".join(run).replace(trace, f"{trace}.{next(count)}") + " ", program.command)
            return ["bash", "-c", text.replace("TRACE", f"{trace}.1")]
        return [*run, *([self.harm, "--gate"] if mode == ATTACH and program.command[0] != self.harm else []), *program.command]

    def shown(self, program, mode):
        """The command for a person."""
        if mode == ATTACH:
            return f"tools/measure/harmless --mode attach --only '{program.kind}' --name '{program.name}'"
        dwell = os.path.relpath(self.dwell)
        return " ".join(shlex.quote(os.path.relpath(one) if one == self.harm else one)
                        for one in self.command(program, mode, "/tmp/harm.dwell")).replace(self.dwell, dwell)

    def attach(self, program_pid, trace, gate):
        """Starts dwell attach, and opens the gate when it records."""
        process = subprocess.Popen([self.dwell, "attach", "--sample", "1000", "-o", trace, str(program_pid)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        late = threading.Timer(ATTACH_FIRST, process.kill)
        late.start()
        process.stderr.readline()
        late.cancel()
        time.sleep(.02)
        with open(gate, "w", encoding="utf-8"):
            pass
        return process

    def run(self, program, mode, seconds=LONG):
        with tempfile.TemporaryDirectory(prefix="harm.") as folder:
            here = os.path.join(folder, "here")
            os.mkdir(here)
            about, gate, trace = (os.path.join(folder, name) for name in ("about", "gate", "t.dwell"))
            environment = {**ENVIRONMENT, "PATH": os.environ["PATH"], "HOME": here, "PWD": here, "TMPDIR": here}
            if mode == ATTACH:
                environment["HARM_GATE"] = gate
            command = [self.harm, "--run", str(seconds + (ATTACH_FIRST if mode == ATTACH else 0)), about, *self.command(program, mode, trace)]
            begin = time.monotonic()
            with open(os.path.join(folder, "out"), "wb") as output, open(os.path.join(folder, "err"), "wb") as errors:
                process = subprocess.Popen(command, cwd=here, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
                attached = None
                if mode == ATTACH:
                    while not read(about).startswith("pid ") or "\n" not in read(about):
                        time.sleep(.002)
                    attached = self.attach(int(read(about).split()[1]), trace, gate)
                process.wait()
                took = time.monotonic() - begin
                if attached:
                    try:
                        attached.communicate(timeout=ATTACH_FIRST)
                    except subprocess.TimeoutExpired:
                        attached.kill()
                        attached.communicate()
            ended = re.search(r"^status (-?\d+) late (\d+) left (\d+)", read(about), re.M)
            status = None if not ended or ended.group(2) != "0" else int(ended.group(1))
            texts = [comparable(read(os.path.join(folder, name)), here) for name in ("out", "err")]
            if mode not in (None, ATTACH):
                texts[1] = without_dwell(texts[1])
            files = sorted(os.listdir(here))
            shutil.rmtree(here, ignore_errors=True)
            return Result(status, *texts, files, took, int(ended.group(3)) if ended else 0)

    def without(self, program):
        """The result without dwell; a program runs once so."""
        with self.guard:
            lock = self.locks.setdefault(program, threading.Lock())
        with lock:
            if program not in self.plain:
                self.plain[program] = self.run(program, None)
            return self.plain[program]

    def examine(self, program, mode):
        """("passed" | "failed" | "skipped", sentences) of a program in a mode. What differs runs again."""
        if program.around and mode == ATTACH:
            return "skipped", []
        plain = self.without(program)
        if plain.output.startswith("skip: "):
            return "skipped", [plain.output.splitlines()[0][len("skip: "):][:100]]
        if plain.status is None:
            return "skipped", ["takes too long without dwell"]
        limit = max(LONG, LONGER * plain.seconds)
        first = compare(plain, self.run(program, mode, limit))
        if not first:
            return "passed", []
        if any(compare(plain, self.run(program, None)) for _ in range(3)):
            return "skipped", ["differs without dwell, too"]
        again = [compare(plain, self.run(program, mode, limit)) for _ in range(3)]
        if not any(again) and not re.search("by signal|in time", first[0]):
            if any(compare(plain, self.run(program, None)) for _ in range(6)):
                return "skipped", ["differs without dwell, too"]
            again += [compare(plain, self.run(program, mode, limit)) for _ in range(6)]
            if not any(again):
                return "passed", [f"once in 10: {first[0]}"]
        return "failed", [f"{1 + sum(map(bool, again))} of {1 + len(again)}: {first[0]}", *first[1:]]
