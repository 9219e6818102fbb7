#!/usr/bin/env python3
"""dwell capture FOLDER: some steps of each rank of a running job; and dwell pack --steps, which stores them.

usage: capture_test.py DWELL LIVE [PART-OF-A-NAME...]        last line: N passed, N failed, N skipped

Ranks are programs that sleep in their steps, each under a dwell run of its own.
"""
import glob
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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import unpacked  # noqa: E402

dwell, live = map(os.path.abspath, sys.argv[1:3])
DEVICE = os.path.join(unpacked.folder(dwell), "gpu/compute.dwell")
RANKS = 3
LINE = re.compile(r"rank (\d+) on \S+: (?:steps (\d+) to (\d+)|step (\d+)|no whole step), .* in (\S+)$", re.M)


def run(*command, status=0):
    done = subprocess.run([dwell, *command], capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != status:
        raise AssertionError(f"{command}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def view(trace, name):
    # of a killed program's trace, standard error says so
    done = subprocess.run([dwell, "report", "-f", "json", "--view", name, trace], stdout=subprocess.PIPE, text=True, check=True)
    table = json.loads(done.stdout)["views"][0]
    return [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]


def program_of(runner):
    """The process that a dwell run started to run a program."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8") as file:
                name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        if int(rest.split()[1]) == runner.pid and name == os.path.basename(live)[:15]:
            return int(path.split("/")[2])
    raise AssertionError("the program does not run")


def numbers(trace):
    return sorted(row["step"] for row in view(trace, "steps"))


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def fields(data):
    """Pairs of number and value of a protocol buffers message."""
    at = 0
    while at < len(data):
        numbers_at = []
        for _ in range(2):
            end = at
            while data[end] & 128:
                end += 1
            numbers_at += varints(data[at:end + 1])
            at = end + 1
        key, value = numbers_at
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def summary_of(path):
    """The only rank of a summary (doc/reference/summary.md)."""
    with open(path, "rb") as file:
        (_, message), = fields(file.read()[24:])
    names = {9: "wall", 10: "steps", 11: "ns", 12: "warm_up_steps", 13: "warm_up_ns", 14: "missing", 15: "last"}
    rank = dict.fromkeys(names.values(), 0) | {"durations": {}, "parts": {}}
    for field, value in fields(message):
        if field in names:
            rank[names[field]] = value
        elif field == 17:
            pairs = list(varints(value))
            rank["durations"] = dict(zip(pairs[::2], pairs[1::2]))
        elif field == 19:
            numbers_of = list(varints(value))[4:]
            for part, ns in zip(numbers_of[::2], numbers_of[1::2]):
                if part < 31:
                    rank["parts"][part] = rank["parts"].get(part, 0) + ns
    return rank


class Job(unittest.TestCase):
    """Rank 2 has the longest steps."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="dwell-capture-")
        os.chdir(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.folder.cleanup()

    def setUp(self):
        os.mkdir("job")
        self.ranks = [self.start(rank) for rank in range(RANKS)]
        until = time.monotonic() + 60
        while len(glob.glob("job/*.sum")) < RANKS and time.monotonic() < until:
            time.sleep(0.1)

    def tearDown(self):
        for rank in self.ranks:
            rank.send_signal(signal.SIGTERM)
            rank.wait(60)
        shutil.rmtree("job")

    def start(self, rank, *options, steps=None):
        return subprocess.Popen(
            [dwell, "run", "--sample", "off", "--summary-every", "1s", *options, "-o", f"job/r{rank}.dwell", live, "-",
             *(steps or ("3", str(5 + 10 * rank)))], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(RANKS)})

    def captured(self, *arguments, status=0):
        """The first and the last step, and the file, by rank; and all that is printed."""
        printed = run("capture", *arguments, status=status)
        return {int(rank): (int(first or one or 0), int(last or one or -1), path)
                for rank, first, last, one, path in LINE.findall(printed)}, printed

    def test_all_ranks(self):
        found, _ = self.captured("job", "--steps", "4")
        self.assertEqual(sorted(found), list(range(RANKS)))
        for first, last, path in found.values():
            self.assertEqual(last - first, 3)
            self.assertEqual(numbers(path), list(range(first, last + 1)))
            self.assertLessEqual({"convolution", "matmul_backward", "convolution_backward"},
                                 {row["name"] for row in view(path, "operators")})
            self.assertEqual(os.stat(path).st_mode & 0o077, 0)
        self.assertEqual(glob.glob("job/*.answer"), [])
        again, _ = self.captured("job", "--steps", "1")
        self.assertTrue(all(again[rank][0] > found[rank][1] for rank in range(RANKS)))

    def test_steps_that_begin_before_they_are_known(self):
        self.ranks.append(self.start(RANKS, steps=("60", "5", "late")))
        until = time.monotonic() + 60
        while not os.path.exists(f"job/r{RANKS}.dwell.sum") and time.monotonic() < until:
            time.sleep(0.1)
        for _ in range(12):
            first, last, path = self.captured("job", "--ranks", str(RANKS), "--steps", "3")[0][RANKS]
            self.assertEqual(last - first, 2)
            self.assertEqual(numbers(path), [first, first + 1, last])

    def test_some_ranks(self):
        self.assertEqual(sorted(self.captured("job", "--ranks", "1", "--steps", "1")[0]), [1])
        until = time.monotonic() + 60  # a first summary may have no steps yet
        while sorted(self.captured("job", "--ranks", "0,slowest", "--steps", "1")[0]) != [0, 2]:
            self.assertLess(time.monotonic(), until)
        self.assertEqual(sorted(self.captured("job/r1.dwell", "job/r2.dwell.sum", "--steps", "1")[0]), [1, 2])
        self.assertIn("none of the 3 ranks", run("capture", "job", "--ranks", "7", status=1))
        self.assertIn("--ranks 0,fast", run("capture", "job", "--ranks", "0,fast", status=2))

    def test_a_time(self):
        found, _ = self.captured("job", "--steps", "0", "--duration", "300ms")
        self.assertEqual(sorted(found), list(range(RANKS)))

    def test_ranks_that_do_not_answer(self):
        program = program_of(self.ranks[0])
        os.kill(program, signal.SIGSTOP)
        found, printed = self.captured("job", "--steps", "2", "--duration", "3s", status=1)
        self.assertEqual(sorted(found), [1, 2])
        self.assertRegex(printed, r"rank 0 on \S+: no answer: ")
        os.kill(program, signal.SIGKILL)
        self.ranks[0].send_signal(signal.SIGCONT)  # dwell run stopped with its program
        self.ranks[0].wait()
        self.assertIn("has ended", self.captured("job", "--ranks", "0", "--duration", "1s", status=1)[1])

    def test_a_rank_that_is_killed_meanwhile(self):
        capture = subprocess.Popen([dwell, "capture", "job", "--ranks", "2", "--steps", "100000", "--duration", "60s"],
                                   stdout=subprocess.PIPE, text=True)
        time.sleep(2.5)
        os.kill(program_of(self.ranks[2]), signal.SIGKILL)
        printed, _ = capture.communicate(timeout=60)
        self.assertEqual(capture.returncode, 1)
        self.assertIn("100000 steps were asked for; fewer ended", printed)
        first, last, path = {int(found[0]): (int(found[1]), int(found[2]), found[4]) for found in LINE.findall(printed)}[2]
        self.assertEqual(numbers(path)[0], first)
        self.assertGreaterEqual(numbers(path)[-1], last)

    @unittest.skipUnless("yes  elfutils" in run("--version", "--verbose"), "this dwell reads no stacks")
    def test_stacks(self):
        printed = run("capture", "job", "--stacks", "--ranks", "0,2")
        self.assertEqual(sorted(re.findall(r"^== rank (\d+) on ", printed, re.M)), ["0", "2"])
        self.assertEqual(len(re.findall(r"in step \d+ > .*convolution", printed)), 2)
        self.assertIn("live_step", printed)
        self.assertEqual(glob.glob("job/*.stacks") + glob.glob("job/*.ask"), [])

    def test_nonsense(self):
        self.assertIn("no summary of a rank", run("capture", "/", status=1))
        self.assertIn("--steps x", run("capture", "job", "--steps", "x", status=2))
        self.assertIn("-o is for captures from HOST:PORT", run("capture", "job", "-o", "logs", status=2))
        if os.getuid() == 0:  # what another user wrote is not followed, nor is a link
            with open("job/theirs", "w", encoding="utf-8") as file:
                file.write("dwell-capture 1 theirs 1 1000 0\n")
            os.chown("job/theirs", 12345, 12345)
            os.rename("job/theirs", "job/r0.dwell.ask")
            time.sleep(2.5)
            os.symlink("r1.dwell.sum", "job/link")
            os.rename("job/link", "job/r0.dwell.ask")
            time.sleep(1.5)
            self.assertEqual(glob.glob("job/*theirs*") + glob.glob("job/*.answer"), [])
            os.unlink("job/r0.dwell.ask")
        os.mkfifo("job/r0.dwell.ask")  # nobody writes to it
        os.mkfifo("job/planted.dwell.sum")
        time.sleep(1.5)
        os.unlink("job/r0.dwell.ask")
        for text in ("", "x" * 300, "dwell-capture 2 a 1 1 1\n", "dwell-capture 1 ../../x 1 1 1\n"):
            with open("job/r0.dwell.ask", "w", encoding="utf-8") as file:
                file.write(text)
            time.sleep(1.2)
        self.assertEqual(sorted(self.captured("job", "--steps", "1")[0]), list(range(RANKS)))


class Always(unittest.TestCase):
    """dwell run --always keeps what was recorded around slow steps."""
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="dwell-always-")
        os.chdir(self.folder.name)

    def tearDown(self):
        os.chdir("/")
        self.folder.cleanup()

    def test_a_slow_step(self):
        runner = subprocess.Popen([dwell, "run", "--always", "--max-size", "64M", "--sample", "off", "--summary-every", "1s",
                                   "-o", "r.dwell", live, "-", "4", "6"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)
        program = program_of(runner)
        os.kill(program, signal.SIGSTOP)
        time.sleep(1)
        os.kill(program, signal.SIGCONT)
        os.kill(runner.pid, signal.SIGCONT)  # it stops with its program
        until, slowest = time.monotonic() + 60, {}
        while not slowest and time.monotonic() < until:  # a busy machine has other slow steps
            time.sleep(0.2)
            for part in glob.glob("r.slow-*.dwell"):
                longest = max(view(part, "steps"), key=lambda row: row["duration_ns"])
                if longest["duration_ns"] > 0.9e9 and part == f"r.slow-{longest['step']}.dwell":
                    slowest = {"file": part, **longest}
        runner.send_signal(signal.SIGTERM)
        runner.wait(60)
        self.assertTrue(slowest)
        self.assertEqual(max(numbers(slowest["file"])), slowest["step"])
        self.assertGreater(len(numbers(slowest["file"])), 20)
        for part in glob.glob("r.slow-*.dwell"):
            os.unlink(part)
        run("summarize", "-o", "s", "--slow-steps", "0:1000000000", "r.dwell")
        longest = max(view("r.dwell", "steps"), key=lambda row: row["duration_ns"])
        self.assertEqual(glob.glob("r.slow-*.dwell"), [f"r.slow-{longest['step']}.dwell"])
        run("summarize", "-o", "s", "--slow-steps", "0:1", "r.dwell")
        self.assertEqual(glob.glob("r.slow-*.dwell"), [])
        self.assertIn("--slow-steps x", run("summarize", "-o", "s", "--slow-steps", "x", "r.dwell", status=2))

    def test_a_summary_that_goes_on(self):
        """Later steps are added to the summary that was made before, also if the trace has lost the earlier ones."""
        with subprocess.Popen([dwell, "run", "--sample", "off", "-o", "r.dwell", live, "-", "1", "1"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
            time.sleep(2)
            program.send_signal(signal.SIGTERM)
        last = numbers("r.dwell")[-1]
        self.assertGreater(last, 300)
        run("pack", "--steps", "0..99", "-o", "first.dwell", "r.dwell")
        run("pack", "--steps", f"150..{last}", "-o", "later.dwell", "r.dwell")
        run("summarize", "-o", "s", "--slow-steps", "0:1", "first.dwell")
        first = summary_of("s")
        run("summarize", "-o", "alone", "later.dwell")
        later = summary_of("alone")
        run("summarize", "-o", "s", "--slow-steps", "0:1", "later.dwell")
        both = summary_of("s")
        self.assertEqual(both["steps"] + both["warm_up_steps"] + both["missing"], both["last"] + 1)
        self.assertEqual(both["missing"], 50)
        for field in ("steps", "ns"):  # alone, the first step of the later part may pass for a warm-up
            self.assertEqual(both[field] + both[f"warm_up_{field}"], sum(each[field] + each[f"warm_up_{field}"]
                                                                         for each in (first, later)), field)
        for counts in ("durations", "parts"):
            for key, value in both[counts].items():
                if not later["warm_up_steps"]:
                    self.assertEqual(value, first[counts].get(key, 0) + later[counts].get(key, 0), (counts, key))
        self.assertEqual(sum(both["durations"].values()), both["steps"])
        self.assertEqual(sum(both["parts"].values()), both["ns"])
        self.assertGreater(both["wall"], first["wall"] + later["wall"])
        with open("s", "rb") as file:
            before = file.read()
        run("summarize", "-o", "s", "--slow-steps", "0:1", "later.dwell")
        with open("s", "rb") as file:
            self.assertEqual(file.read(), before)  # there was nothing new
        with open("s", "wb") as file:
            file.write(before[:100])
        self.assertIn("made anew", run("summarize", "-o", "s", "--slow-steps", "0:1", "later.dwell"))
        again = summary_of("s")
        self.assertEqual(again["steps"] + again["warm_up_steps"], later["steps"] + later["warm_up_steps"])

    def test_more_steps_than_fit(self):
        """A small file has an entry for each of the newest steps; the summary counts all steps of the run."""
        runner = subprocess.Popen([dwell, "run", "--always", "--max-size", "4M", "--sample", "off", "--summary-every", "1s",
                                   "-o", "r.dwell", live, "-", "0", "0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(30):  # on a busy machine it takes longer until the file has lost as many steps as it keeps
            time.sleep(2)
            found = numbers("r.dwell")
            if found[0] > max(1000, len(found)):
                break
        runner.send_signal(signal.SIGTERM)
        runner.wait(60)
        single, summary = numbers("r.dwell"), summary_of("r.dwell.sum")
        self.assertGreater(single[0], 1000)
        self.assertEqual(single, list(range(single[0], single[-1] + 1)))
        self.assertEqual(summary["steps"] + summary["warm_up_steps"] + summary["missing"], single[-1] + 1)
        self.assertGreater(summary["steps"], len(single))
        self.assertRegex(run("report", "--view", "steps", "r.dwell"), f"single steps from step {single[0]} and summaries of those before it")


class Part(unittest.TestCase):
    """dwell pack --steps and --time: a trace of a part of a run."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="dwell-part-")
        os.chdir(cls.folder.name)
        with subprocess.Popen([dwell, "run", "--sample", "off", "-o", "all.dwell", live, "-", "2", "3"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
            time.sleep(2)
            run("pack", "--steps", "50..80", "-o", "early.dwell", "all.dwell")
            program.send_signal(signal.SIGTERM)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.folder.cleanup()

    def check_part(self, path, first, last):
        self.assertEqual(numbers(path), list(range(first, last + 1)))
        whole = {row["step"]: row for row in view("all.dwell", "steps")}
        for row in view(path, "steps"):
            for column in ("duration_ns", "start_ns"):  # the whole trace knows its clock better
                self.assertAlmostEqual(row[column], whole[row["step"]][column], delta=3000)
        facts = {row["fact"]: row["value"] for row in view(path, "facts")}
        self.assertGreater(facts["loop.wall"], 0.5 * facts["run.wall"])

    def test_steps(self):
        run("pack", "--steps", "100..120", "-o", "part.dwell", "all.dwell")
        self.check_part("part.dwell", 100, 120)
        run("unpack", "-o", "plain.dwell", "part.dwell")
        self.check_part("plain.dwell", 100, 120)

    def test_steps_of_a_trace_that_is_written(self):
        self.check_part("early.dwell", 50, 80)

    def test_work_of_a_device(self):
        """The host of this recorded run is far ahead: the device works for steps 10 to 20 long after they ended."""
        run("pack", "--steps", "10..20", "-o", "gpu-part.dwell", DEVICE)
        whole, part = (json.loads(run("report", "-f", "json", "--view", "kernels", *arguments))["views"][0]
                       for arguments in (["--steps", "10..20", DEVICE], ["gpu-part.dwell"]))
        self.assertGreater(len(part["rows"]), 3)
        self.assertEqual([row[:4] for row in part["rows"]], [row[:4] for row in whole["rows"]])
        step, of_all = ({row["fact"]: row["value"] for row in view(trace, "facts")}["device.step"]
                        for trace in ("gpu-part.dwell", DEVICE))
        self.assertAlmostEqual(step / of_all, 1, delta=0.05)

    def test_a_time(self):
        run("pack", "--time", "500ms..1s", "-o", "part.dwell", "all.dwell")
        found = view("part.dwell", "steps")
        self.assertTrue(found and all(0.5e9 <= row["start_ns"] <= 1e9 for row in found))

    def test_nonsense(self):
        self.assertIn("unpack -o FILE first", run("pack", "--steps", "50..60", "-o", "x.dwell", "early.dwell", status=1))
        self.assertIn("none of these steps", run("pack", "--steps", "1000000..", "-o", "x.dwell", "all.dwell", status=1))
        self.assertIn("-o FILE", run("pack", "--steps", "1..2", "all.dwell", status=2))
        self.assertFalse(os.path.exists("x.dwell"))


if __name__ == "__main__":
    unittest.defaultTestLoader.testNamePatterns = [f"*{part}*" for part in sys.argv[3:]] or None
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
