#!/usr/bin/env python3
"""What `dwell run` says of processes that used CPU time and are not in the trace.

usage: apart_test.py DWELL BURN STATIC-BURN SANITIZER [PART-OF-A-NAME...]      last line: N passed, N failed, N skipped
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

DWELL, BURN, STATIC = (os.path.abspath(path) for path in sys.argv[1:4])
LIMIT = 60  # seconds, of what takes milliseconds
CHANGED = "LD_PRELOAD does not name dwell's libraries in its environment, "
LOOP = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do {}; done"


@unittest.skipIf(sys.argv[4] != "none", "no library of a sanitized build is loaded into programs")
class Apart(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="dwell-apart-")
        os.chdir(self.folder.name)
        shutil.copy(BURN, "burn")
        shutil.copy(STATIC, "still")

    def tearDown(self):
        os.chdir("/")
        self.folder.cleanup()

    def said(self, *program):
        """The programs that are said not to be recorded: (name, processes, milliseconds, reason). A report says the same."""
        done = subprocess.run([DWELL, "run", "-o", "t.dwell", "--", *program], capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = "".join(re.findall(r"^dwell: not recorded: (.*)$", done.stderr, re.M))
        report = subprocess.run([DWELL, "report", "t.dwell"], capture_output=True, text=True, timeout=LIMIT, check=False).stdout
        report = " ".join(report.split())  # its sentences are broken into lines
        self.assertEqual(f"Not recorded: {text}." in report, bool(text), report)
        found = re.findall(r"(?:^|; )(\S+|processes too short to be seen) \((?:(\d+) process(?:es)?, )?([\d.]+) (ms|s) of CPU time\)(?:: ([^;]*))?", text)
        return [(name, int(count or 0), float(time) * (1000 if unit == "s" else 1), reason) for name, count, time, unit, reason in found]

    def one(self, name, count, least_ms, reason, *program):
        found = self.said(*program)
        self.assertEqual([(row[0], row[1]) for row in found], [(name, count)], found)
        self.assertTrue(least_ms * 0.7 <= found[0][2] <= least_ms * 1.5 + 50, found)
        self.assertTrue(found[0][3].startswith(reason) if reason else not found[0][3], found)

    def test_recorded(self):
        self.assertEqual(self.said("./burn", "300"), [])
        self.assertEqual(self.said("sh", "-c", "./burn 200; ./burn 200 & wait"), [])

    def test_changed_environments(self):
        self.one("burn", 1, 300, CHANGED, "env", "-i", "./burn", "300")
        self.one("burn", 1, 300, CHANGED, "env", "LD_PRELOAD=", "./burn", "300")
        self.one("burn", 2, 400, CHANGED, "sh", "-c", "unset LD_PRELOAD; ./burn 200; ./burn 200")
        self.one("burn", 1, 300, CHANGED, "sh", "-c", "unset LD_PRELOAD; exec ./burn 300")
        report = subprocess.run([DWELL, "report", "t.dwell"], capture_output=True, text=True, timeout=LIMIT, check=False).stdout
        self.assertNotIn("probes of", report)

    def test_static(self):
        self.one("still", 1, 300, "the program is linked statically", "sh", "-c", "./still 300; true")
        both = self.said("sh", "-c", "unset LD_PRELOAD; ./still 200; ./burn 300; ./burn 200; true")
        self.assertEqual([row[:2] for row in both], [("burn", 2), ("still", 1)])

    def test_short(self):
        self.one("processes too short to be seen", 0, 200, "", "sh", "-c", "unset LD_PRELOAD; " + LOOP.format("./burn 10"))
        self.assertEqual(self.said("sh", "-c", "unset LD_PRELOAD; ./burn 5; ./burn 5"), [])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare") and shutil.which("setpriv"), "only root hides folders")
    def test_hidden(self):
        folder = os.path.dirname(DWELL)
        if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("nothing can be mounted here")
        os.mkdir("empty")
        self.one("burn", 1, 300, "dwell's folder is not visible", "unshare", "-m", "sh", "-c", f"mount --bind empty '{folder}' && exec ./burn 300")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "only root becomes another user")
    def test_another_user(self):
        os.chmod(".", 0o755)
        self.one("burn", 1, 300, "it may not write to this trace, and records to /", "setpriv", "--reuid", "12345", "--clear-groups", "./burn", "300")


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0], *(word for name in sys.argv[5:] for word in ("-k", name))], exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
