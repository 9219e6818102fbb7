#!/usr/bin/env python3
"""A part of the step that the program names: it is the first sentence, with its line and what the thread waits for in it.

usage: named_test.py DWELL NAMED SOURCE-OF-NAMED [PART-OF-A-NAME...]

Programs of named.c run under dwell run. How long they wait depends on the machine; what they wait for does not.
The last line is "N passed, N failed, N skipped".
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../probes"))
import again  # noqa: E402

dwell, program, source = (os.path.abspath(path) for path in sys.argv[1:4])
STEPS, NAMES, LINES = 170, 10000, 60
MOST_SECONDS = 5  # of the processor, for a report on so many names: it takes a tenth of one
# Of the waits that are named; a part of them may be the machine's.
MOST_OF, LEAST_KNOWN, MOST_DELAY, OTHERS = 0.5, 0.03, 0.1, 0.25
# Of the loop: the part, which also computes, and its waits. Other programs make the waits as short as the part is.
LEAST_PART, LEAST_WAIT, LEAST_BUSY = 0.4, 0.25, 0.1
# A disk or a scheduler that becomes slower during the run changes the pace of the part.
PACE = ("change-point", "drift", "slow-steps")
# And where the thread waits for a CPU, that may be the first thing to say.
CROWDED = (*PACE, "oversubscribed")
# Of each kind of waits, the rules that report it, and what the account says that the thread does.
KINDS = {"file": (("waiting-file",), ("disk", "file", "reads or writes")), "lock": (("waiting-lock",), ("lock",)),
         "sleep": (("sleeping",), ("sleeps",)), "other": (("waiting-file", "waiting-answer"), ("reads or writes", "socket"))}
WAITS = {rule for rules, _ in KINDS.values() for rule in rules} | {"idle"}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise AssertionError(f"{command}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def line_of_part():
    with open(source, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if 'DWELL_ZONE("metrics")' in line)


class Named(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="dwell-named-")
        os.chdir(cls.temporary.name)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.temporary.cleanup()

    def record(self, case):
        trace = f"{case}.dwell"
        run(dwell, "run", "-o", trace, program, case, str(STEPS))
        return trace

    def view(self, trace, name):
        table = json.loads(run(dwell, "report", "-f", "json", "--view", name, trace))["views"][0]
        return [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]

    def first_sentence(self, trace, but=()):
        """Names the part and its line: that it takes most, or that the thread waits in it. Returns its row of the verdict. On a machine
        that has no CPU for the thread when it wants one, sentences about that may come before."""
        facts = self.facts(trace)
        busy = facts["cpu.others"] >= OTHERS or max(facts["cpu.delay"], facts["cpu.stolen"]) >= MOST_DELAY
        first = next(row for row in self.view(trace, "verdict") if row["rule"] not in (*but, *(CROWDED if busy else ())))
        self.assertIn(first["rule"], {"named-part", *WAITS})
        self.assertGreater(first["share"], LEAST_BUSY if busy else LEAST_PART if first["rule"] == "named-part" else LEAST_WAIT)
        self.assertRegex(first["statement"], rf"^The range metrics takes \d+% of the loop at named.c:{line_of_part()}[.,]"
                         if first["rule"] == "named-part" else rf"in the range metrics at named.c:{line_of_part()}[.:]")
        return first

    def facts(self, trace):
        return {row["fact"]: row["value"] or 0 for row in self.view(trace, "facts")}

    def waits(self, case, kind):
        """Most of what is known of the thread's waits is of this kind. A busy machine may leave too little to say."""
        rules, activities = KINDS[kind]
        for _ in range(3):  # looks at the thread may be late while other programs have the CPUs
            trace = self.record(case)
            self.first_sentence(trace, PACE)
            waits = {row["activity"]: row["share"] for row in self.view(trace, "account") if row["state"] == "waits"}
            found, known = sum(waits.get(name, 0) for name in activities), sum(waits.values()) - waits.get("unknown", 0)
            if known < LEAST_KNOWN:
                return
            self.assertGreater(found, MOST_OF * known)
            reported = [row["statement"] for row in self.view(trace, "verdict") if row["rule"] in rules]
            self.assertEqual(1, len(reported), f"{case}: {waits}")
            self.assertRegex(reported[0], rf"most of it in (do_part|doze) \(named.c:\d+\)(, which calls \w+( and is called by \w+ \(named.c:\d+\))?)?, in the range metrics at named.c:{line_of_part()}[.:]")
            facts = self.facts(trace)
            # a thread that wakes and gets no CPU, of the kernel or of a hypervisor, is not seen asleep
            if max(facts["cpu.delay"], facts["cpu.stolen"]) >= MOST_DELAY or found > MOST_OF * sum(waits.values()):
                return
        self.fail(f"{case}: seen waiting for {found:.2f} of the time: {waits}")

    @again.measures
    def test_a_part_that_computes(self):
        for case in ("compute", "compute-team"):
            self.first_sentence(self.record(case))

    @again.measures
    def test_a_part_that_waits_for_the_disk(self):
        self.waits("fsync", "file")

    @again.measures
    def test_the_same_while_a_team_of_threads_spins(self):
        self.waits("fsync-team", "file")

    @again.measures
    def test_a_part_that_sleeps(self):
        self.waits("sleep", "sleep")
        self.waits("sleep-team", "sleep")

    @again.measures
    def test_many_short_waits(self):
        self.waits("short", "sleep")
        self.waits("short-team", "sleep")

    @again.measures
    def test_a_part_that_waits_for_a_lock(self):
        self.waits("lock", "lock")

    @again.measures
    def test_a_part_that_waits_for_another_process(self):
        self.waits("socket", "other")
        self.waits("socket-team", "other")

    @again.measures
    def test_a_part_that_touches_new_memory(self):
        trace = self.record("faults")
        self.first_sentence(trace, ("page-faults",))  # they are why the part takes so long, and may come before it
        self.assertIn("page-faults", [row["rule"] for row in self.view(trace, "verdict")])

    def test_ten_thousand_names(self):
        trace = self.record("names")
        for view in ("overview", "phases", "actions", "calls", "tree"):
            self.assertLess(len(run(dwell, "report", "--view", view, trace).splitlines()), LINES, view)
        row = re.search(r"\n  ([\d,]+) smaller ones +", run(dwell, "report", trace))
        self.assertGreater(int(row[1].replace(",", "")), 0.8 * NAMES)  # without those of outliers alone
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.assertLess(len(run(dwell, "report", "--summary", "--format", "json", trace)), 65536)
        run(dwell, "report", "--view", "account", trace)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, MOST_SECONDS)


if __name__ == "__main__":
    tests = unittest.defaultTestLoader
    tests.testNamePatterns = [f"*{part}*" for part in sys.argv[4:]] or None
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(tests.loadTestsFromTestCase(Named))
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
