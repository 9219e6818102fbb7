#!/usr/bin/env python3
"""What libraries announce through ITT is in the trace: each kind of event, and real programs.

usage: itt_test.py BUILD [--torch PYTHON] [--opencv PYTHON]      last line: N passed, N failed

PYTHON has PyTorch, or OpenCV from pip. itt_program.c plays the static part of ittnotify. oneDNN's tasks are
compared with the lines that ONEDNN_VERBOSE prints in the same run.
"""
import argparse
import collections
import functools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import again
import announced

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--torch")
parser.add_argument("--opencv")
options = parser.parse_args()
BUILD = os.path.abspath(options.build)
SOURCES = os.path.dirname(os.path.abspath(__file__))
PLAIN = os.path.join(BUILD, "examples/onednn_plain/onednn_plain")
Run = functools.partial(announced.Run, os.path.join(BUILD, "dwell"))
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)
    return good


def test_program(program):
    run = Run(program, "nested")
    check(f"no function is missing: {run.done.stdout}", run.done.stdout == "")
    check("tasks of two copies nest", run.count("outer") == 20 and run.count("inner") == 10)
    check("dwell prints the domains", run.said("ITT: one, two, made early (--no-itt)"))
    check("a task made before the collector", run.count("early task") == 1)
    check("a task without a name", run.count("(no name)") == 1)
    one, two = run.span("crossed one"), run.span("crossed two")
    check(f"tasks of two domains cross: {one} {two}", one[0] <= two[0] <= one[1] < two[1])
    inner = [event["dur"] for event in run.of("inner")]
    check("a task ends with its own end", all(2000 <= length < 1e6 for length in inner))
    check("nothing is lost", run.lost() == 0)

    run = Run(program, "overlapped")
    check("overlapped tasks", len(run.of("over 7", "b")) == len(run.of("over 7", "e")) == 1 and
          len(run.of("over 8", "b")) == len(run.of("over 8", "e")) == 1)
    check("the end of another thread's task is ignored", run.count("stays open") == 1 and
          run.of("stays open")[0]["dur"] >= 0 and run.count("in thread") == 1)
    check(f"the thread's name: {run.threads}", any("the ender" in name for name in run.threads))

    run = Run(program, "frames")
    check(f"frames of trainer.step are steps: {run.steps()}", run.steps() == 6)
    check("other frames are ranges", len(run.of("video", "b")) == len(run.of("video", "e")) == 5)
    run = Run(program, "frames", arguments=["--step-on", "video"])
    check("--step-on names the frames that are steps", run.steps() == 5 and not run.said("--step-on"))
    run = Run(program, "nested", arguments=["--step-on", "inner"])
    check("--step-on names a task", run.steps() == 10 and not run.said("--step-on"))
    run = Run(program, "nested", arguments=["--step-on", "absent"])
    check("--step-on that names nothing", run.steps() == 0 and run.said("--step-on absent"))

    run = Run(program, "values")
    counters = {event["name"]: event["args"] for event in run.events if event["ph"] == "C"}
    check(f"counters: {counters}", {"count", "rate", "calls"} <= set(counters))
    check("a marker", len(run.of("now", "iI")) == 1)
    check("an event of the first version", run.count("old event") == 1)
    first, second = run.of("first")[0].get("args", {}), run.of("second")[0].get("args", {})
    check(f"metadata: {first}", "1,2,3" in json.dumps(first).replace(" ", "") and "it has 4" in json.dumps(first) and
          'a \\"b\\"\\ufffd' in json.dumps(first))
    check(f"and a number: {second}", "2.5" in json.dumps(second))
    starts, ends = ([event["id"] for event in run.events if event["ph"] == phase] for phase in "sf")
    check("a relation is an arrow", len(ends) == 1 and ends[0] in starts)
    check("nothing is recorded after pause", run.count("paused") == 0 and run.count("resumed") == 1)

    run = Run(program, "wrong")
    check("the program ends well", run.done.returncode == 0)
    check("a name of 100 kB is cut", run.count("x" * 1000) == 1)
    check("a name that is not UTF-8", run.count("bad \ufffd\ufffd\ufffd bytes") == 1)
    check("deep tasks", run.count("deep") == 512 and run.lost() == 488)
    check("and what follows them", run.count("after") == 1)
    check("fork inside a task", run.count("parent") == run.count("child") == run.count("forks") == 1)

    run = Run(program, "many")
    names = collections.Counter(event["name"] for event in run.events if event["ph"] == "X")
    check("80,000 tasks of four threads", sum(names[f"task {i}"] for i in range(50)) == 80000)
    check("and as many overlapped ones", len(run.of("overlapped", "b")) == len(run.of("overlapped", "e")) == 80000)
    check("none is lost", run.lost() == 0)

    run = Run(program, "nested", arguments=["--no-itt"])
    check("--no-itt", run.done.stdout == "no collector\n" and run.is_empty() and not run.said("ITT"))
    run = Run(program, "nested", INTEL_LIBITTNOTIFY64="/nowhere/collector.so")
    check("another collector stays, and dwell says so", run.done.stdout == "no collector\n" and
          run.said("/nowhere/collector.so"))


def verbose_lines(text):
    """The names and milliseconds of the primitives that oneDNN printed."""
    pattern = re.compile(r"^(?:onednn|dnnl)_verbose(?:,[^,]*primitive)?,exec,cpu,(\w+),.*,([\d.e+-]+)$", re.M)
    return [(name, float(ms)) for name, ms in pattern.findall(text)]


def test_onednn():
    def measure():
        run = Run(PLAIN, "3", ONEDNN_VERBOSE="1")
        lines = verbose_lines(run.done.stdout)
        operators = sorted((event for event in run.events if event["ph"] == "X" and event.get("cat") == "cpu_op"),
                           key=lambda event: event["ts"])
        check(f"oneDNN's primitives are operators: {len(operators)} of {len(lines)}",
              len(lines) > 500 and [event["name"] for event in operators] == [name for name, _ in lines])
        print(f"oneDNN: {sum(event['dur'] for event in operators) / 1000:.1f} ms by ITT, "
              f"{sum(ms for _, ms in lines):.1f} ms by ONEDNN_VERBOSE")
        longest = sorted(zip(operators, lines), key=lambda pair: pair[1][1])[-50:]
        return statistics.median(event["dur"] / 1000 / ms for event, (_, ms) in longest)
    # A task contains the printing of its line, and another program may run meanwhile: not the sums are
    # compared, but the median of the 50 longest primitives. On a quiet machine it is within 1%.
    ratio = again.until(lambda ratio: abs(ratio - 1) < 0.01, measure)
    check(f"their times by ITT are {ratio:.4f} of those that oneDNN prints", abs(ratio - 1) < 0.05)
    run = Run(PLAIN, "1", ONEDNN_ITT_TASK_LEVEL="2", OMP_NUM_THREADS="2")
    check("the variable of oneDNN is the user's", len({event["tid"] for event in run.events}) > 1)


TORCH = """
import torch
net, x = torch.nn.Conv2d(3, 8, 3), torch.ones(2, 3, 16, 16)
with torch.autograd.profiler.emit_itt():
    for i in range(4):
        torch.profiler.itt.range_push("mine")
        net(x)
        torch.profiler.itt.range_pop()
"""


def test_torch(python):
    run = Run(python, "-c", TORCH)
    names = collections.Counter(event["name"] for event in run.events if event["ph"] == "X")
    check(f"under PyTorch's probe each operator is there once: {names['aten::conv2d']}", names["aten::conv2d"] == 4)
    check("and oneDNN's primitives inside them are not", names["convolution"] == 0)
    check("the program's own ranges are", names["mine"] == 4)
    # Without the probe ITT alone shows the operators.
    run = Run("/usr/bin/env", "-u", "LD_PRELOAD", python, "-c", TORCH)
    names = collections.Counter(event["name"] for event in run.events if event["ph"] == "X")
    check(f"without it ITT has them: {names['aten::conv2d']}", names["aten::conv2d"] == 4 and names["mine"] == 4)
    check(f"and oneDNN's: {names['convolution']}", names["convolution"] == names["create convolution"] >= 4 or
          names["convolution"] >= 4)


def test_opencv(python):
    run = Run(python, "-c", "import cv2, numpy\nfor i in range(3): cv2.resize(numpy.ones((9, 9)), (4, 4))")
    names = [event["name"] for event in run.events if "cv::resize(" in event["name"] or event["name"] == "cv::resize"]
    check(f"OpenCV's functions: {names}", len(names) == 3)


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    subprocess.run(["cc", "-O1", "-o", "itt_program", os.path.join(SOURCES, "itt_program.c"), "-ldl", "-lpthread"],
                   check=True)
    test_program("./itt_program")
    if os.path.exists(PLAIN):
        test_onednn()
    else:
        print("skip oneDNN: it is not installed")
    for given, test in ((options.torch, test_torch), (options.opencv, test_opencv)):
        if given:
            test(given)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
