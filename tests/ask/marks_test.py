#!/usr/bin/env python3
"""The same program with and without marked steps gets the same first cause.

usage: marks_test.py DWELL MARKS [PART-OF-A-NAME...]

MARKS is marks.c. The programs of Python are below. How long a part takes depends on the machine; what it is does not.
The last line is "N passed, N failed, N skipped".
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../probes"))
import again  # noqa: E402

dwell, program = (os.path.abspath(path) for path in sys.argv[1:3])
PACKAGE = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python"))
# Of each case, the rules that are about it.
CASES = {"sleep": {"sleeping"}, "disk": {"waiting-file"}, "lock": {"waiting-lock"}, "child": {"waiting-child"},
         "text": {"text"}, "memory": {"allocator"}, "faults": {"page-faults"}}
PYTHON = {
    "loop": ({"python"}, """
import sys
import dwell

def price(rows):
    total = 0
    for row in rows:
        total += row * row % 7
    return total

for _ in range(60):
    if sys.argv[1] == "1":
        dwell.step()
    price(range(150000))
"""),
    "tables": ({"text"}, """
import json
import sys
import dwell

rows = [{"name": str(i), "value": i / 7} for i in range(3000)]
for _ in range(60):
    if sys.argv[1] == "1":
        dwell.step()
    for _ in range(3):
        json.loads(json.dumps(rows))
"""),
}


def run(*command):
    environment = {**os.environ, "PYTHONPATH": PACKAGE, "LD_LIBRARY_PATH": os.path.dirname(dwell)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    if done.returncode:
        raise AssertionError(f"{command}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class Marks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="dwell-marks-")
        os.chdir(cls.temporary.name)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.temporary.cleanup()

    def first(self, name, marked, *command):
        trace = f"{name}-{marked}.dwell"
        run(dwell, "run", "-o", trace, *command, str(marked))
        table = json.loads(run(dwell, "report", "-f", "json", "--view", "verdict", trace))["views"][0]
        names = [column["name"] for column in table["columns"]]
        return dict(zip(names, table["rows"][0])) if table["rows"] else {"rule": "nothing", "statement": ""}

    def check(self, name, rules, *command):
        for marked in (0, 1):
            first = self.first(name, marked, *command)
            self.assertIn(first["rule"], rules, f"marked {marked}: {first['statement']}")

    def check_python(self, name):
        rules, text = PYTHON[name]
        with open(f"{name}.py", "w", encoding="utf-8") as file:
            file.write(text)
        self.check(name, rules, sys.executable, f"{name}.py")


def add(name, check):
    setattr(Marks, f"test_{name}", again.measures(check))


for one in CASES:
    add(one, lambda self, case=one: self.check(case, CASES[case], program, case))
for one in PYTHON:
    add(f"python_{one}", lambda self, name=one: self.check_python(name))

if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Marks)
    wanted = sys.argv[3:]
    chosen = unittest.TestSuite(test for test in suite if not wanted or any(part in test.id() for part in wanted))
    result = unittest.TextTestRunner(verbosity=1).run(chosen)
    bad = len(result.failures) + len(result.errors)
    print(f"{max(0, result.testsRun - bad)} passed, {bad} failed, {len(result.skipped)} skipped")
    sys.exit(bad > 0)
