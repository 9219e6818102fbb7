#!/usr/bin/env python3
"""dwell run --step-on FUNCTION of native programs: the steps, and that the program does not notice.

usage: entry_test.py DWELL PROGRAM

The last line is "N passed, N failed, N skipped".
"""
import json
import os
import platform
import subprocess
import sys
import tempfile
import unittest

dwell, program = (os.path.abspath(path) for path in sys.argv[1:3])


@unittest.skipUnless(platform.machine() == "x86_64", "only on x86-64")
class Entry(unittest.TestCase):
    def steps(self, function, mode, *options):
        """How many steps began, and what dwell run said."""
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "t.dwell")
            done = subprocess.run([dwell, "run", "-o", trace, "--step-on", function, *options, program, mode],
                                  capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            report = subprocess.run([dwell, "report", trace, "--view", "steps", "--format", "json"], capture_output=True,
                                    text=True, check=False, timeout=120)
            if report.returncode:
                return 0, done.stderr
            table = json.loads(report.stdout)["views"][0]
            return len(table["rows"]), done.stderr

    def test_a_step_lasts_from_a_call_to_the_next(self):
        self.assertEqual(self.steps("train_step", "args")[0], 20)
        self.assertEqual(self.steps("train_step", "args", "--sample", "off")[0], 20)
        self.assertEqual(self.steps("train_step", "args", "--sample", "1000")[0], 20)

    def test_arguments_of_all_kinds_arrive(self):
        self.assertEqual(self.steps("with_list", "args")[0], 20)
        self.assertIn(self.steps("with_vectors", "vectors")[0], (0, 20))  # 0: the processor has no AVX

    def test_jumps_out_of_the_function(self):
        self.assertEqual(self.steps("train_step", "jump")[0], 20)

    def test_one_thread_has_the_steps(self):
        self.assertEqual(self.steps("train_step", "threads")[0], 50)

    def test_children_and_new_programs(self):
        self.assertEqual(self.steps("train_step", "fork")[0], 5 + 7)
        self.assertEqual(self.steps("train_step", "exec")[0], 5 + 20)

    def test_refusals_have_a_reason(self):
        for function, reason in (("first_jumps", "its first instructions cannot be moved"),
                                 ("no_such_function", "no function of this name"), ("main_loop", "no function of this name")):
            count, text = self.steps(function, "args")
            self.assertEqual(count, 0)
            self.assertIn(f"--step-on {function}: {reason}", text)
        count, text = self.steps("with_vectors", "args")
        self.assertIn("it is there, and was never called", text)


if __name__ == "__main__":
    if sys.argv[3:] not in ([], ["none"]):
        print("skip step-on: a sanitizer's runtime must be the first library\n0 passed, 0 failed, 1 skipped")
        sys.exit()
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Entry)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
