#!/usr/bin/env python3
"""The fixture `dwell` in a pytest that knows dwell as pip would install it: by the entry point of pyproject.toml.

usage: PYTHON pytest_test.py DWELL, a Python that has pytest. Last line: N passed, N failed
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
dwell = os.path.abspath(sys.argv[1])
counts = {True: 0, False: 0}
TESTS = '''
import sys, time
import pytest

def test_unused_costs_nothing():
    assert not {name for name in sys.modules if name.startswith("dwell.")} - {"dwell.pytest_plugin"}

def test_within(dwell):
    with dwell.steps(budget="10 s") as steps:
        got = list(steps(range(20)))
    assert got == list(range(20)) and 0 < steps.median_ns < 10e9
    assert not LIBRARY

def test_call(dwell):
    assert dwell.run(max, 3, 4, budget="10 s", times=12) == 4

def test_over(dwell):
    with dwell.steps(budget="1 ms") as steps:
        for _ in steps(range(20)):
            time.sleep(0.002)

def test_call_over(dwell):
    dwell.run(time.sleep, 0.002, budget="500 us", times=10)

def test_own_failure(dwell):
    with dwell.steps(budget="1 ns") as steps:
        for _ in steps(range(20)):
            raise KeyError("own")

def test_few(dwell):
    dwell.run(int, budget="1 s", times=9)

@pytest.mark.parametrize("budget", ["5", 5, "5 parsecs", "", "1.2.3 s"])
def test_wrong(dwell, budget):
    with pytest.raises(ValueError, match="give a time with its unit"):
        dwell.steps(budget)

@pytest.mark.parametrize("slow, fails", [((0, 1, 2, 3), False), ((0, 1, 2, 3, 4), True), ((), False)])
def test_phases(dwell, slow, fails):
    """Some fifths of the run are slow."""
    steps = dwell.steps("1 ms")
    steps.times = [1.2e6 if number // 10 in slow else 0.9e6 for number in range(50)]
    assert bool(steps.judge()) == fails
'''
TRACED = '''
def test_traced(dwell):
    with dwell.steps(budget="10 s") as steps:
        for _ in steps(range(15)):
            sum(range(10000))
'''


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


def install(folder):
    """The package, and what pip writes beside it."""
    with open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as file:
        text = file.read()
    name = re.search(r'(?m)^name = "(.*)"$', text)[1]
    points = re.search(r'(?m)^\[project\.entry-points\.pytest11\]\n((?:.+\n)+)', text)[1]
    info = os.path.join(folder, name.replace("-", "_") + "-0.0.0.dist-info")
    os.makedirs(info)
    os.symlink(os.path.join(ROOT, "python", "dwell"), os.path.join(folder, "dwell"))
    for path, content in (("METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.0\n"),
                          ("entry_points.txt", "[pytest11]\n" + points.replace('"', ""))):
        with open(os.path.join(info, path), "w", encoding="utf-8") as file:
            file.write(content)


def main():
    with tempfile.TemporaryDirectory(prefix="dwell-pytest-") as folder:
        install(os.path.join(folder, "site"))
        for name, text in (("test_steps.py", "LIBRARY = '/libdwell.so.' in open('/proc/self/maps').read()\n" + TESTS), ("test_traced.py", TRACED)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        env = {**os.environ, "PYTHONPATH": os.path.join(folder, "site"), "PYTHONDONTWRITEBYTECODE": "1"}

        def run(*command):
            done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
            return done.returncode, done.stdout + done.stderr
        pytest = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q")

        _, said = run(*pytest, "--fixtures", "test_steps.py")
        check("pip's entry point has the fixture", "dwell --" in said or "\ndwell" in said, said)
        status, said = run(*pytest, "-rA", "--junitxml=junit.xml", "test_steps.py")
        results = dict(reversed(row) for row in re.findall(r"(?m)^(PASSED|FAILED|ERROR) test_steps\.py::(\S+)", said))
        expected = {"test_over": "FAILED", "test_call_over": "FAILED", "test_own_failure": "FAILED", "test_few": "FAILED"}
        wrong = {name: result for name, result in results.items() if expected.get(name, "PASSED") != result}
        check("tests fail that are over their budget, and no others", status == 1 and not wrong and len(results) == 15, f"{wrong} {said}")
        found = re.search(r"dwell: the median of 20 steps took 2\.\d+ ms without waits for a CPU, (\d+)% over the budget of 1 ms, and 2\.\d+ ms in the fastest "
                          r"fifth of the run", said)
        check("one sentence says why", found and int(found[1]) >= 100, said)
        check("a test's own failure is its failure", "KeyError: 'own'" in said, said)
        check("few steps are no budget", "9 steps are too few to be judged: at least 10" in said, said)
        with open(os.path.join(folder, "junit.xml"), encoding="utf-8") as file:
            report = file.read()
        check("JUnit's report has the medians", report.count('name="dwell_median_ns"') >= 4 and 'name="dwell_budget_ns" value="1000000"' in report, report)

        status, said = run(dwell, "run", "-o", "pytest.dwell", "--", *pytest, "test_traced.py")
        check("it runs under dwell run", status == 0, said)
        status, said = run(dwell, "report", "--summary", "-f", "json", "pytest.dwell")
        steps = json.loads(said)["steps"] if status == 0 else None
        check("and the trace has the steps", steps and steps["count"] in (15, 16), steps)
        status, said = run(*pytest, "-p", "no:dwell", "test_traced.py")
        check("-p no:dwell leaves it out", status == 1 and "fixture 'dwell' not found" in said, said)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
