#!/usr/bin/env python3
"""dwell run --gather: traces and summaries that are moved to a shared folder, and what happens where that fails.

usage: gather_test.py BUILD [PART-OF-A-NAME...]        last line: N passed, N failed, N skipped
"""
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
SOURCES = os.path.dirname(os.path.abspath(__file__))


def dwell(*words):
    return subprocess.run([DWELL, *words], capture_output=True, text=True, check=False, timeout=120)


class Gather(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tools = tempfile.TemporaryDirectory(prefix="dwell-gather-")
        cls.program = os.path.join(cls.tools.name, "program")
        subprocess.run([*os.environ.get("CC", "cc").split(), "-D_GNU_SOURCE", "-I", os.path.join(SOURCES, "../../include"),
                        os.path.join(SOURCES, "watch_program.c"), "-o", cls.program, "-L", BUILD, "-Xlinker", f"-rpath={BUILD}",
                        "-ldwell"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.tools.cleanup()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="dwell-gather-")
        os.chdir(self.folder.name)
        os.mkdir("node")
        os.mkdir("shared")
        self.runs = []

    def tearDown(self):
        for run in self.runs:
            if run.poll() is None:
                run.kill()
            run.stderr.close()
        os.chdir("/")
        self.folder.cleanup()

    def start(self, name, *options, shared="shared", command=None, rank=0):
        self.runs.append(subprocess.Popen(
            [DWELL, "run", "--sample", "off", "-o", f"node/{name}.dwell", "--gather", shared, *options, "--",
             *(command or ["sh", "-c", f"{self.program} 0; exit 7"])],
            stderr=subprocess.PIPE, text=True, env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"}))
        return self.runs[-1]

    def end(self, status=7):
        """What all runs print, after the program has made steps and has ended."""
        until = time.monotonic() + 60
        while status == 7 and sum(self.steps(trace, may_fail=True) > 0 for trace in glob.glob("node*/r*.dwell")) < len(self.runs):
            self.assertLess(time.monotonic(), until)
        with open("end", "w", encoding="utf-8"):
            pass
        said = "".join(run.communicate(timeout=120)[1] for run in self.runs)
        self.assertEqual([run.returncode for run in self.runs], [status] * len(self.runs), said)
        return said

    def wait_for(self, *files):
        until = time.monotonic() + 120
        while not all(os.path.exists(file) for file in files):
            self.assertLess(time.monotonic(), until, files)
            time.sleep(.1)

    def steps(self, trace, may_fail=False):
        info = dwell("report", "--view", "steps", "-f", "csv", trace)
        self.assertTrue(may_fail or not info.returncode, info.stderr)
        return max(0, info.stdout.count("\n") - 1)

    def test_a_job(self):
        for rank in range(2):
            self.start(f"r{rank}", "--summary-every", "1s", rank=rank)
        self.wait_for("shared/r0.dwell.sum", "shared/r1.dwell.sum")
        with open("shared/r0.dwell.where", encoding="utf-8") as file:
            self.assertEqual(file.read(), f"{os.uname().nodename}:{os.getcwd()}/node/r0.dwell\n")
        watched = dwell("watch", "--once", "shared")
        self.assertEqual((watched.returncode, watched.stdout), (0, ""), watched.stderr)
        captured = dwell("capture", "--steps", "2", "shared")
        self.assertEqual(captured.returncode, 0, captured.stdout)
        for path in re.findall(r"in (\S+)$", captured.stdout, re.M):
            self.assertEqual(os.path.dirname(path), "shared")
            self.assertGreaterEqual(self.steps(path), 2)
        said = self.end()
        self.assertEqual(os.listdir("node"), [])
        self.assertEqual(glob.glob("shared/*.where") + glob.glob("shared/*.part"), [])
        for rank in range(2):
            self.assertIn(f"recorded to shared/r{rank}.dwell (dwell report shared/r{rank}.dwell)", said)
            self.assertEqual(os.stat(f"shared/r{rank}.dwell").st_mode & 0o777, 0o600)
            self.assertGreater(self.steps(f"shared/r{rank}.dwell"), 2)
        ranks = dwell("ranks", "shared/r0.dwell.sum", "shared/r1.dwell.sum")
        self.assertIn("2 ranks", ranks.stdout)

    def test_a_name_that_is_taken(self):
        """Two nodes that use one name lose nothing."""
        with open("shared/r.dwell", "w", encoding="utf-8") as file:
            file.write("of somebody else")
        os.mkdir("node2")
        self.start("r")
        self.start("../node2/r", rank=1)
        self.end()
        with open("shared/r.dwell", encoding="utf-8") as file:
            self.assertEqual(file.read(), "of somebody else")
        self.assertTrue(all(self.steps(f"shared/r-{number}.dwell") for number in (2, 3)))

    def test_slow_steps_are_moved_too(self):
        run = self.start("r", "--always", "--summary-every", "1s")
        self.wait_for("shared/r.dwell.sum")
        with open("hang", "w", encoding="utf-8"):
            pass
        time.sleep(1)
        os.remove("hang")
        until = time.monotonic() + 60
        while not glob.glob("node/r.slow-*.dwell"):
            self.assertLess(time.monotonic(), until)
            time.sleep(.1)
        self.end()
        self.assertTrue(glob.glob("shared/r.slow-*.dwell"))
        self.assertEqual((os.listdir("node"), run.returncode), ([], 7))

    def test_a_folder_that_is_missing(self):
        self.start("r", shared="new/folder")
        self.end()
        self.assertGreater(self.steps("new/folder/r.dwell"), 0)

    def test_a_folder_that_cannot_be_made(self):
        """The program does not start: its trace would stay where nobody looks."""
        with open("file", "w", encoding="utf-8"):
            pass
        run = self.start("r", shared="file/folder", command=["touch", "started"])
        self.assertIn("--gather: cannot write to file/folder: Not a directory", run.communicate(timeout=60)[1])
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual((os.listdir("node"), os.path.exists("started")), ([], False))

    def test_a_folder_that_is_full(self):
        os.mkdir("small")
        if os.getuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", "small"], check=False,
                                         capture_output=True).returncode:
            self.skipTest("this user may mount no small file system")
        try:
            self.start("r", shared="small", command=["sh", "-c", f"{self.program} 0; exit 7"])
            said = self.end()
            self.assertIn("No space left on device; the file stays in ", said)
            self.assertGreater(self.steps("node/r.dwell"), 0)
            self.assertEqual(os.listdir("small"), ["r.dwell.where"])
        finally:
            subprocess.run(["umount", "small"], check=False)

    def test_the_folder_of_the_trace(self):
        self.start("r", shared="node")
        self.end()
        self.assertEqual(glob.glob("node/*.dwell"), ["node/r.dwell"])

    def test_no_program(self):
        self.start("r", command=["./none"])
        self.end(127)
        self.assertEqual(os.listdir("shared") + os.listdir("node"), [])

    def test_a_process_that_goes_on(self):
        """Its records would be lost if the trace were moved."""
        self.start("r", command=["sh", "-c", f"{self.program} 0 2>/dev/null & echo $! > pid; sleep 3; exit 7"])
        said = self.runs[0].communicate(timeout=60)[1]
        self.assertIn("processes still record to", said)
        self.assertGreater(self.steps("node/r.dwell"), 0)
        with open("pid", encoding="utf-8") as file:
            os.kill(int(file.read()), signal.SIGKILL)


if __name__ == "__main__":
    unittest.defaultTestLoader.testNamePatterns = [f"*{part}*" for part in sys.argv[2:]] or None
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    for test, why in result.skipped:
        print(f"skip {test.id()}: {why}")
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
