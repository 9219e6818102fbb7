#!/usr/bin/env python3
"""The account of CPU time: all of it stands in samples, or a sentence says by which cause it does not.

usage: account_test.py BUILD      last line: N passed, N failed

Programs of known cost: short threads, threads of C11 and of clone(), a signal that stays blocked, exec, fork, a timer
that is refused. And programs that are recorded by others at the moment of their first sample: it must not be lost.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

import again

BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "account_program.c")

# Collections begin to be recorded after some 10 ms of CPU time, at about the time of the first sample.
COLLECTS = """
import time
end = time.process_time() + 0.03
while time.process_time() < end:
    made = [[i] for i in range(1000)]
"""


checks = again.Checks()
check = checks.check


def run(trace, *command, options=(), limit=None):
    def lower():
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (limit, limit))
    return subprocess.run([DWELL, "run", "-o", trace, *options, *command], capture_output=True, text=True,
                          preexec_fn=lower if limit is not None else None, check=False)


def report(trace, *options):
    text = subprocess.run([DWELL, "report", *options, trace], capture_output=True, text=True, check=False).stdout
    return text if options else " ".join(text.split())  # sentences of the first screen are broken into lines


def account(trace):
    """CPU time in samples, and the rows of the account: [(threads, number, missing, why)]."""
    text = report(trace, "--view", "hot", "--format", "json")
    views = json.loads(text)["views"] if text else [{"totals": {}, "columns": [], "rows": []}]
    sampled = (views[0].get("totals") or {}).get("self_ns", 0)
    found = []
    for view in views[1:]:
        names = [column["name"] for column in view["columns"]]
        rows = [dict(zip(names, row)) for row in view["rows"]]
        found += [(row["threads"], row["count"], row["missing_ns"], row["why"]) for row in rows]
    return sampled, found


def whole(what, trace, kernel_ns, why=None):
    """Samples and findings are the kernel's count, but for the chance of samples, and the cause is the one that is so."""
    sampled, found = account(trace)
    missing = sum(row[2] for row in found)
    told = report(trace)
    # what a report leaves out as chance or as too little for a word
    allowed = max(0.03 * kernel_ns, 50e6)
    check(f"{what}: all CPU time", abs(sampled + missing - kernel_ns) <= allowed, sampled, found, kernel_ns)
    if missing:
        unknown = sum(row[2] for row in found if row[3] in ("no samples", "samples ended"))
        check(f"{what}: the cause is known", unknown <= 0.01 * kernel_ns, found)
        check(f"{what}: a sentence", "Not recorded: " in told and "Trust: nothing is lost" not in told, told)
        check(f"{what}: the cause", why and all(row[3] in why for row in found), found)
    else:
        check(f"{what}: nothing is missing", "Trust: nothing is lost" in told, told)
    return missing


def known(folder, program):
    """Programs whose threads samples may miss."""
    for kind, why in (("plain", ()), ("short", ("short threads",)), ("c11", ("other threads",)), ("raw", ("other threads",)),
                      ("blocked", ("signal blocked",)), ("exec", ()), ("fork", ())):
        trace = os.path.join(folder, f"{kind}.dwell")
        ran = run(trace, program, kind)
        kernel_ns = int(ran.stdout or 0)
        check(f"{kind}: the program ran", kernel_ns, ran.stderr)
        if kind == "fork":
            kernel_ns += 900e6  # of the child, which ends by _exit()
        missing = whole(kind, trace, kernel_ns, why)
        if kind == "raw":
            check("threads of clone() are missing", missing > 850e6, missing)
        if kind == "blocked":
            check("what follows the block is missing", missing > 1100e6, missing)


def ended(folder, program):
    """Programs that end without running destructors: by a signal, by _exit(), by executing another one."""
    for kind, missing_ns in (("kill", 900e6), ("leave", 900e6), ("leave child", 900e6), ("kill later", 900e6), ("kill child", 300e6)):
        trace = os.path.join(folder, "ended.dwell")
        ran = run(trace, program, kind)
        kernel_ns = int(ran.stdout or 0)
        sampled, found = account(trace)
        missing = sum(row[2] for row in found)
        # a child that is killed is known up to when it was last looked at, half a second ago at most
        short = 600e6 if kind == "kill child" else max(0.03 * kernel_ns, 50e6)
        check(f"{kind}: all CPU time", kernel_ns - short <= sampled + missing <= kernel_ns + 50e6, sampled, found, kernel_ns)
        check(f"{kind}: what no sample stands for", missing > 0.9 * missing_ns, found)
        causes = ("killed",) if "kill" in kind else ("signal blocked",)
        check(f"{kind}: the cause", all(row[3] in causes for row in found), found)
        check(f"{kind}: a sentence", "Not recorded: " in report(trace), report(trace))


def refused(folder, program):
    """Timers that the limit of pending signals refuses: the program itself, and one that another program starts."""
    for what, command in (("the program", [program, "plain"]), ("a child", ["sh", "-c", f"{program} plain; true"])):
        trace = os.path.join(folder, "refused.dwell")
        ran = run(trace, *command, limit=0)
        told = report(trace)
        found = re.search(r"Not recorded: ([\d.]+) s of .*ulimit -i", told)
        check(f"a refused timer of {what}", found and abs(float(found[1]) * 1e9 - int(ran.stdout)) < 0.1 * int(ran.stdout), told, ran.stdout, ran.stderr)
        check(f"and nothing else is said of {what}", "Trust: nothing is lost" not in told, told)


def first_samples(folder):
    """The first sample comes while another part registers the process, or shortly before or after."""
    silent = []
    for hertz in range(60, 125):
        trace = os.path.join(folder, "first.dwell")
        run(trace, sys.executable, "-ISc", COLLECTS, options=["--sample", str(hertz)])
        if not report(trace, "--view", "hot"):
            silent.append(hertz)
    check("programs without samples", not silent, silent)


def data(folder, program):
    """What programs read has the sentences, too."""
    trace = os.path.join(folder, "raw.dwell")
    run(trace, program, "raw")
    overview = json.loads(report(trace, "--format", "json"))["views"][0]
    summary = json.loads(report(trace, "--summary", "--format", "json"))
    check("gaps of the overview", any("of CPU time" in gap for gap in overview.get("gaps", [])), overview)
    check("gaps of the summary", any("of CPU time" in gap for gap in summary["gaps"]), summary)
    check("gaps of the summary for people", "Not recorded: " in report(trace, "--summary", "--format", "md"), summary)
    run(trace, program, "raw", options=["--sample", "off"])
    check("without samples nothing is expected", "Not recorded" not in report(trace), report(trace))


with tempfile.TemporaryDirectory() as scratch:
    binary = os.path.join(scratch, "account_program")
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O1", "-g", "-pthread", "-o", binary, SOURCE], check=True)
    for measure in known, ended, refused, data:
        checks.part(measure, scratch, binary)
    first_samples(scratch)
print(f"{checks.passed} passed, {checks.failed} failed")
sys.exit(checks.failed != 0)
