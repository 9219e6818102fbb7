#!/usr/bin/env python3
"""bench/run: a part that fails is one row of the table with its reason, the other parts go on, and what the
parts start is a target that `make bench` builds.

The parts are replaced by functions of this file; nothing is measured here.
The last line is "N passed, N failed".
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "run")
PARTS = ("report_costs", "uftrace", "functions", "lttng", "resnet", "captures", "facts_cost", "reader", "memory", "stored", "sequence",
         "exports", "flame_graphs", "layers", "engine", "actions", "torch", "newest_torch")
# A program that starts another one, which fails: its own message is that a command failed.
OUTER = """import subprocess, sys
subprocess.run([sys.executable, "-c", "raise OSError('libinner.so: no such file')"], stdout=subprocess.PIPE, check=True)"""
counts = [0, 0]


def check(what, good, shown=""):
    counts[not good] += 1
    if not good:
        print(f"FAILED {what}\n{shown}")


def bench(folder, **replaced):
    """What bench/run prints with these parts, and its exit status."""
    loader = importlib.machinery.SourceFileLoader("bench_run", RUN)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
    sys.argv = [RUN, "--json", os.path.join(folder, "results.json"), folder]
    loader.exec_module(module)
    for name in PARTS:
        setattr(module, name, lambda *arguments: None)
    module.dwell_costs = lambda where: {"range": {"median": 20.0}}
    for name, function in replaced.items():
        setattr(module, name, function(module))
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        status = module.main()
    return status, output.getvalue()


def results(folder):
    with open(os.path.join(folder, "results.json"), encoding="utf-8") as file:
        return json.load(file)


def failing(error):
    def make(module):
        def fail(*arguments):
            raise error
        return fail
    return make


def measuring(what):
    return lambda module: lambda *arguments: module.row(what, "1 ns", "<= 2 ns", True)


def unknown_targets():
    """Programs and libraries that bench/ names and bench/meson.build does not."""
    folder, used = os.path.dirname(RUN), set()
    with open(os.path.join(folder, "meson.build"), encoding="utf-8") as file:
        known = set(re.findall(r"(?:executable|shared_library)\('(\w+)'", file.read()))
    for name in os.listdir(folder):
        if name == "run" or name.endswith(".py"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                used |= set(re.findall(r'(?:built\(|"bench/|"bench", )"?(?:lib)?(\w+)(?:\.so)?"', file.read()))
    return used - known if len(used) > 5 else used


def main():
    sys.dont_write_bytecode = True
    check("all programs are targets", not unknown_targets(), unknown_targets())
    with tempfile.TemporaryDirectory() as folder:
        status, text = bench(folder, layers=measuring("layers view"))
        check("all is well", status == 0 and "1 met, 0 missed, 0 skipped, 0 failed" in text, text)
        for error, words in ((StopIteration(), "not there"), (FileNotFoundError(2, "No such file", "x"), "No such file"),
                             (subprocess.CalledProcessError(3, ["/a/b"], "", "first\nlast\n"), "b ended with 3: last"),
                             (KeyError("range"), "range")):
            status, text = bench(folder, captures=failing(error), torch=measuring("operators"))
            check(repr(error), status == 1 and words in text and "operators" in text and "1 failed" in text, text)
            check("rows of --json", any(words in row[2] for row in results(folder)["rows"]), results(folder))
            check("a row of results.md", words in open(os.path.join(folder, "results.md"), encoding="utf-8").read())
        status, text = bench(folder, layers=lambda module: lambda *arguments: module.run([sys.executable, "-c", OUTER]))
        check("the reason of the innermost program",
              re.search(r"failed: \S+ -c ended with 1: OSError: libinner.so: no such file +FAILED", text), text)
        status, text = bench(folder, layers=lambda module: lambda *arguments: module.built("no_such_program"))
        check("a program that is not built", status == 1 and "failed: " in text, text)
        status, text = bench(folder, layers=lambda module: lambda *arguments: module.figure("x", "nothing"))
        check("a figure that is not printed", status == 1 and "no figure of the form" in text, text)
        status, text = bench(folder, dwell_costs=failing(OSError(2, "No such file")), layers=measuring("layers view"))
        check("without costs of its own", status == 1 and "layers view" in text and "skipped: uftrace" in text, text)
        status, text = bench(folder, uftrace=failing(KeyboardInterrupt()), report_costs=measuring("range"))
        check("interrupted", "range" in text and "interrupted" in text, text)
    print(f"{counts[0]} passed, {counts[1]} failed")
    return counts[1] != 0


sys.exit(main())
