#!/usr/bin/env python3
"""Gives dwell and other profilers the same programs, and writes doc/measured/peers.md.

usage: bench/peers.py [--build DIR] [--rounds N] [--tools NAME,...] [--again] [--list] [--page] [PART...]

PART: ranges, functions, calls, operators, training, wall, start, kill, faults, samplers; without one, all. Takes an hour on a quiet machine. Each
result is kept in bench/peers.json as soon as it is known: a second call measures only what is missing, --again everything.
--rounds N: medians of N runs (3). --tools: only these. --list: prints tools and rows. --page: writes the page from what is kept.

perf, uftrace, LTTng-UST and babeltrace2 come from Debian (`tools/setup bench`), Python's tools from pip (`tools/venv peers`). Tracy, Caliper
and Perfetto's SDK are built from sources in BUILD/peers/tracy, caliper and perfetto, where `git clone` puts them. What is not there, or
does not run, is named on the page.
"""
import argparse
import datetime
import json
import os
import platform
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, ".."))
PAGE = os.path.join(ROOT, "doc/measured/peers.md")
STORE = os.path.join(HERE, "peers.json")
TRAIN, SHARES = (os.path.join(HERE, name) for name in ("peer_train.py", "peer_shares.py"))
RANGES, CALLS, OPERATORS, STEPS = 1000000, 3000000, 500000, {"cnn": 40, "transformer": 120}
SLICES = 2500  # of the program for samplers
LINES, COLUMNS = 40, 200  # a first screen
TIMEOUT = 400
BUSY = 5  # load of the machine
options = results = None
where = {}  # names of commands in the table of tools


class Missing(Exception):
    """A tool is not here, or did not give a result; the text says why."""


# ---- tools --------------------------------------------------------------------------------------------------------------------------

@dataclass
class Tool:
    name: str
    of: str        # where it comes from
    version: str   # the command that prints it
    record: str    # before the program's own words; {out} is the file
    report: str    # what shows the result; "": the end of the run does
    kinds: str     # python: any program of Python; c: any program; marks: programs with its marks; -pg: built with it
    note: str = ""


TOOLS = [
    Tool("dwell", "this project", "{dwell} --version", "{dwell} run -o {out} --", "{dwell} report {out}", "python c marks"),
    Tool("perf", "Debian", "perf --version", "perf record -q -g -o {out} --", "perf report --stdio -i {out}", "python c"),
    Tool("uftrace", "Debian", "uftrace --version", "uftrace record --no-libcall -d {out}", "uftrace report -d {out}", "-pg"),
    Tool("LTTng-UST", "Debian", "lttng --version", "", "babeltrace2 {out}", "marks"),
    Tool("Tracy", "sources", "sh -c \"sed -n 's/^constexpr.* = \\([0-9]*\\);/\\1/p' {tracy}/public/common/TracyVersion.hpp | paste -sd.\"", "", "", "marks", "client alone: no viewer is connected, so there is no file"),
    Tool("Caliper", "sources", "sh -c \"git -C {caliper} log -1 --format='sources of %cs'\"", "", "", "marks", "service event trace"),
    Tool("Perfetto's SDK", "sources", "git -C {perfetto} describe --tags", "", "", "marks", "session in the program; of 2021, the newest release of which both files could be had"),
    Tool("cProfile", "Python", "{python} --version", "{python} -m cProfile -o {out}",
         "{python} -c \"import pstats; pstats.Stats('{out}').sort_stats('tottime').print_stats(30)\"", "python"),
    Tool("py-spy", "pip", "{bin}/py-spy --version", "{bin}/py-spy record -s -o {out} -- {python}", "", "python", "its picture counts as its 40 widest functions"),
    Tool("memray", "pip", "{python} -m memray --version", "{python} -m memray run -q -f -o {out}", "{python} -m memray summary {out}", "python"),
    Tool("scalene", "pip", "{python} -m scalene --version", "{python} -m scalene run --cpu-only -o {out}.json", "{python} -m scalene view --cli -r {out}.json", "python",
         "time alone: with memory, PyTorch ended by SIGSEGV under it"),
    Tool("viztracer", "pip", "{python} -m viztracer --version", "{python} -m viztracer --quiet -o {out}.json", "", "python",
         "its time line counts as the 40 names with the most time"),
    Tool("torch.profiler", "PyTorch", "{python} -c \"import torch; print(torch.__version__)\"", "{python} " + os.path.abspath(__file__) + " under_torch {out}", "", "python"),
    Tool("Python 3.15's sampler", "Python", "", "{python} -m profiling.sampling run --collapsed -o {out}", "", "samplers", "in a table of its own, because no PyTorch for Python 3.15 was to be had"),
    Tool("dwell --sample 250", "this project", "{dwell} --version", "{dwell} run --sample 250 -o {out} --", "{dwell} report {out}", "samplers"),
    Tool("TraceML", "pip", "{bin}/python -c \"import importlib.metadata as m; print(m.version('traceml-ai'))\"",
         "{python} {bin}/traceml run", "", "python", "with `traceml run`, in a script that does not import it"),
]
NAMED = {tool.name: tool for tool in TOOLS}


def words(text, out=""):
    """The words of a command of the table."""
    return shlex.split(text.format(out=out, **where))


def under_torch(out, script, *arguments):
    """The script under torch.profiler: the table is its report, and the trace for Chrome its file."""
    import runpy
    import torch
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        runpy.run_path(script, run_name="__main__")
    print(profile.key_averages().table(sort_by="self_cpu_time_total"))
    print(f"reported {time.monotonic():.3f}", flush=True)
    profile.export_chrome_trace(out)


# ---- runs ---------------------------------------------------------------------------------------------------------------------------

def run(command, folder, environment=None):
    """The status, the output, processor seconds of all its processes, and the peak memory of one of them in MB."""
    given = {**{name: value for name, value in os.environ.items() if not name.startswith("DWELL_")}, "PYTHONPATH": where.get("packages", ""),
             "COLUMNS": str(COLUMNS), "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(command, cwd=folder, env=given, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        deadline = time.monotonic() + TIMEOUT
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                os.killpg(process.pid, signal.SIGKILL)
                os.wait4(process.pid, 0)
                raise Missing(f"not at its end after {TIMEOUT} s")
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    return process.returncode, text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def must(command, folder, environment=None):
    status, text, *_ = run(command, folder, environment)
    if status:
        raise Missing(f"{' '.join(command[:3])} ended with {status}: {' '.join(text.split())[-120:]}")
    return text


def size_of(path):
    if os.path.isdir(path):
        return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)
    return max((os.path.getsize(each) for each in (path, path + ".json") if os.path.exists(each)), default=0)


def number(pattern, text, what):
    found = re.findall(pattern, text, re.M)
    if not found:
        raise Missing(f"{what} printed no such figure: {' '.join(text.split())[-120:]}")
    return float(found[-1])


def recorded(tool, script, *arguments, folder, prefix=None, environment=None):
    """A program of Python (or `prefix`, a program) under a tool, and its report: facts of both."""
    out = os.path.join(folder, "recorded")
    shutil.rmtree(out, ignore_errors=True)
    for path in (out, out + ".json"):
        if os.path.isfile(path):
            os.unlink(path)
    program = list(prefix) if prefix else [script]
    if not prefix and (not tool or "{python}" not in tool.record):
        program.insert(0, where["python"])
    if tool is NAMED["TraceML"]:
        program += ["--args"] if arguments else []
    before = words(tool.record, out) if tool else []
    began = time.monotonic()
    status, text, cpu, rss = run(before + program + [str(each) for each in arguments], folder, environment)
    facts = {"status": status, "text": text, "cpu": cpu, "rss": rss, "bytes": size_of(out), "report": text, "report_rss": rss}
    if tool and tool.report:
        _, facts["report"], _, facts["report_rss"] = run(words(tool.report, out), folder)
    reported = re.search(r"^reported ([\d.]+)$", text, re.M)
    ended = re.search(r"^end ([\d.]+)$", text, re.M)
    facts["wall"] = float(ended.group(1)) - began if ended else None
    facts["wait"] = (float(reported.group(1)) if reported else time.monotonic()) - float(ended.group(1)) if ended else None
    if tool is NAMED["py-spy"]:
        facts["report"] = widest(out)
    if tool is NAMED["viztracer"]:
        facts["report"] = longest(out + ".json")
    return facts


def widest(path):
    """The functions of a flame graph, the widest first: its frames are of single lines."""
    total = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for frame, samples in re.findall(r"<title>(.*?) \(([\d,]+) samples", file.read()):
                name = re.sub(r":\d+\)$", ")", frame)
                total[name] = total.get(name, 0) + int(samples.replace(",", ""))
    except OSError:
        return ""
    return "\n".join(sorted(total, key=lambda name: -total[name]))


def longest(path):
    """The names of a time line, those with the most time first."""
    total = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for event in json.load(file)["traceEvents"]:
                total[event["name"]] = total.get(event["name"], 0) + event.get("dur", 0)
    except (OSError, ValueError, KeyError):
        return ""
    return "\n".join(sorted(total, key=lambda name: -total[name]))


def screen(text):
    """What a first screen has of a report: without control sequences, empty lines and perf's comments."""
    lines = [re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", line)[:COLUMNS] for line in text.splitlines()]
    return "\n".join([line for line in lines if line.strip() and not line.startswith("#") and not re.match(r"(cost|end|reported) [\d.]+$", line)][:LINES])


# ---- parts: each yields (row, tool, value) -------------------------------------------------------------------------------------------

def rounds(measure):
    return statistics.median(measure() for _ in range(options.rounds))


def built(name, folder):
    """peer_ranges for a tool."""
    program = os.path.join(where["peers"], "ranges-" + re.sub(r"\W", "", name).lower())
    flags = {"dwell": ["-DWITH_DWELL", "-I" + os.path.join(ROOT, "include"), "-L" + where["build"], "-ldwell", "-Xlinker", "-rpath=" + where["build"]],
             "LTTng-UST": ["-DWITH_LTTNG", "-I", HERE, "-llttng-ust", "-ldl"],
             "Tracy": ["-DWITH_TRACY", "-DTRACY_ENABLE", "-DTRACY_NO_SYSTEM_TRACING", "-I{tracy}/public", "{tracy}/public/TracyClient.cpp", "-ldl", "-lpthread"],
             "Caliper": ["-DWITH_CALIPER", "-I{caliper}/include", "-I{caliper}/build/include", "-L{caliper}/build/src", "-lcaliper", "-Xlinker", "-rpath={caliper}/build/src"],
             "Perfetto's SDK": ["-DWITH_PERFETTO", "-I{perfetto}/sdk", "{perfetto}/sdk/perfetto.cc", "-lpthread"], "none": []}[name]
    source = {"Tracy": "tracy", "Caliper": "caliper", "Perfetto's SDK": "perfetto"}.get(name)
    if source and not os.path.isdir(where[source]):
        raise Missing(f"its sources are not in {os.path.relpath(where[source], ROOT)}")
    if name == "Caliper" and not os.path.exists(os.path.join(where["caliper"], "build/src/libcaliper.so")):
        must(["cmake", "-S", where["caliper"], "-B", where["caliper"] + "/build", "-DCMAKE_BUILD_TYPE=Release"], folder)
        must(["cmake", "--build", where["caliper"] + "/build", "-j2", "--target", "caliper"], folder)
    if not os.path.exists(program):
        must(["g++", "-std=c++17", "-O2", os.path.join(HERE, "peer_ranges.cpp"), *[flag.format(**where) for flag in flags], "-o", program], folder)
    return program


class Lttng:
    """A session daemon of our own."""
    def __init__(self, folder):
        self.folder, self.out = folder, os.path.join(folder, "lttng")
        self.environment = {"LTTNG_HOME": folder, "LTTNG_RUNDIR": os.path.join(folder, "rundir")}

    def __enter__(self):
        must(["lttng-sessiond", "--daemonize", "--no-kernel", "--pidfile=" + os.path.join(self.folder, "pid")], self.folder, self.environment)
        for command in (["create", "peers", "--output=" + self.out], ["enable-channel", "--userspace", "--subbuf-size=16M", "--num-subbuf=8", "c"],
                        ["enable-event", "--userspace", "--channel=c", "dwell_bench:*"], ["start"]):
            must(["lttng", *command], self.folder, self.environment)
        return self

    def __exit__(self, *_):
        run(["lttng", "destroy", "peers"], self.folder, self.environment)
        try:
            with open(os.path.join(self.folder, "pid"), encoding="ascii") as file:
                os.kill(int(file.read()), signal.SIGTERM)
        except (OSError, ValueError):
            pass  # it has ended


def marked(name, program, *arguments):
    """A run of peer_ranges under its tool: ns a range, bytes of the file, how many ranges it has, and seconds from the end to the report."""
    with tempfile.TemporaryDirectory(dir=where["peers"]) as folder:
        out, count = os.path.join(folder, "recorded"), [str(RANGES), *arguments]
        if name == "dwell":
            text = run([where["dwell"], "run", "-o", out, "--", program, *count], folder)[1]
            must([where["dwell"], "report", out], folder)
        elif name == "LTTng-UST":
            with Lttng(folder) as session:
                text = run([program, *count], folder, session.environment)[1]
                must(["lttng", "stop"], folder, session.environment)
                out = session.out
                kept = sum(line.count("dwell_bench:begin") for line in must(["babeltrace2", out], folder).splitlines())
        elif name == "Caliper":
            text = run([program, *count], folder, {"CALI_SERVICES_ENABLE": "event,trace,timer,recorder", "CALI_RECORDER_FILENAME": out})[1]
        else:
            text = run([program, *(count if arguments else [*count, out])], folder)[1]
        if "memory buffer exha" in text:
            raise Missing("Perfetto's buffer was full: ranges were lost")
        waited = time.monotonic() - number(r"^end ([\d.]+)$", text, name)
        if name == "dwell":
            kept = number(r"^records (\d+)", must([os.path.join(where["build"], "bench", "bench_records"), out], folder), name) / 2
        elif name != "LTTng-UST":
            kept = RANGES if os.path.exists(out) else 0
        return number(r"^([\d.]+)$", text, name), size_of(out), kept, waited


def part_ranges(tool, folder):
    program, plain = (built(name, folder) for name in (tool.name, "none"))
    yield "range", rounds(lambda: marked(tool.name, program)[0]) - number(r"^([\d.]+)$", run([plain, str(RANGES)], folder)[1], "peer_ranges")
    _, size, kept, waited = marked(tool.name, program)
    if tool.name != "Tracy":
        yield "range_bytes", size / kept
        yield "range_lost", max(0, 100 - 100 * marked(tool.name, program, "kill")[2] / RANGES)
    if tool.name not in ("Tracy", "Perfetto's SDK"):
        yield "range_report", waited


def part_functions(tool, folder):
    """Calls of functions in C, which the compiler marks."""
    names, source = {"plain": [], "-pg": ["-pg"]}, os.path.join(HERE, "peer_calls.c")
    library = os.path.join(where["build"], "probes/functions")
    names["dwell"] = ["-finstrument-functions", "-L" + library, "-L" + where["build"], "-ldwell-functions", "-ldwell", "-Xlinker", f"-rpath={library}:{where['build']}"]
    for name, flags in names.items():
        must(["cc", "-O2", source, "-o", os.path.join(folder, name), *flags], folder)
    program = os.path.join(folder, "dwell" if tool.name == "dwell" else "-pg")
    before = [where["dwell"], "run", "--functions", "-o", "recorded", "--"] if tool.name == "dwell" else words(tool.record, "recorded")

    def one():
        run(["rm", "-rf", "recorded"], folder)
        return number(r"^([\d.]+)$", must([*before, program, str(RANGES)], folder), tool.name) - number(r"^([\d.]+)$", must([os.path.join(folder, "plain"), str(RANGES)], folder), "plain")
    yield "function", rounds(one)


def part_calls(tool, folder):
    if tool.name == "dwell":
        tool = replace(tool, record="{dwell} run --functions=python -o {out} --")
    plain, facts = ([recorded(each, TRAIN, "calls", CALLS, folder=folder) for _ in range(options.rounds)] for each in (None, tool))
    cost = [number(r"^cost ([\d.]+)$", one["text"], tool.name) for one in facts]
    yield "call", statistics.median(cost) - statistics.median(number(r"^cost ([\d.]+)$", one["text"], "plain") for one in plain)
    yield "call_memory", max(one["rss"] for one in facts) - max(one["rss"] for one in plain)


def part_operators(tool, folder):
    plain = rounds(lambda: number(r"^cost ([\d.]+)$", recorded(None, TRAIN, "operators", OPERATORS, folder=folder)["text"], "plain"))
    facts = [recorded(tool, TRAIN, "operators", OPERATORS, folder=folder) for _ in range(options.rounds)]
    yield "operator", statistics.median(number(r"^cost ([\d.]+)$", one["text"], tool.name) for one in facts) - plain
    yield "operator_bytes", facts[0]["bytes"] / OPERATORS


def trained(tool, folder):
    """Runs of each training without the tool and with it."""
    for kind, steps in STEPS.items():
        pairs = [(recorded(None, TRAIN, kind, steps, folder=folder), recorded(tool, TRAIN, kind, steps, folder=folder)) for _ in range(options.rounds)]
        for _, under in pairs:
            number(r"^cost ([\d.]+)$", under["text"], tool.name)  # it ran to its end
        yield kind, pairs


def part_wall(tool, folder):
    for kind, pairs in trained(tool, folder):
        yield kind + "_wall", 100 * (statistics.median(under["wall"] / plain["wall"] for plain, under in pairs) - 1)


def part_training(tool, folder):
    for kind, pairs in trained(tool, folder):
        yield kind, 100 * (statistics.median(under["cpu"] / plain["cpu"] for plain, under in pairs) - 1)
        if kind == "cnn":
            if pairs[0][1]["bytes"]:
                yield "train_bytes", statistics.median(under["bytes"] for _, under in pairs)
            yield "train_memory", statistics.median(under["rss"] - plain["rss"] for plain, under in pairs)
            yield "train_report", statistics.median(under["wait"] for _, under in pairs)
            yield "report_memory", statistics.median(under["report_rss"] if tool.report else under["rss"] for _, under in pairs)


def part_start(tool, folder):
    if "python" in tool.kinds:
        yield "start_python", rounds(lambda: recorded(tool, TRAIN, "start", 0, folder=folder)["cpu"] - recorded(None, TRAIN, "start", 0, folder=folder)["cpu"])


def part_kill(tool, folder):
    """Whether there is a report of a training that was killed, which names something of it."""
    report = screen(recorded(tool, TRAIN, "cnn", 10, "kill", folder=folder)["report"])
    yield "train_killed", 0 if re.search(r"conv|backward|\btrain\b|peer_train|libtorch", report) else 100


def stacks_of(name, out, folder):
    """(names of functions, weight) of the stacks that a sampler recorded."""
    if name.startswith("dwell"):
        out = os.path.join(folder, "stacks")
        must([where["dwell"], "export", "--format", "folded", "--metric", "samples", "-o", out, os.path.join(folder, "recorded")], folder)
    with open(out, encoding="utf-8", errors="replace") as file:
        for line in file:
            stack, _, weight = line.rpartition(" ")
            yield stack, float(weight)


def sampler(name, times):
    """Prints what a sampler does with a script of Python: {row: value}. Runs in a Debian with this version of Python."""
    build = os.path.join(ROOT, "build")
    where.update(build=build, dwell=os.path.join(build, "dwell"), python=sys.executable, bin="/usr/local/bin")
    tool, rows = NAMED[name], {}
    if name == "py-spy":
        tool = replace(tool, record="{bin}/py-spy record -f raw -o {out} -- {python}")
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for _ in range(times):
            plain, under = recorded(None, SHARES, SLICES, folder=folder), recorded(tool, SHARES, SLICES, folder=folder)
            true = {each: float(percent) for each, percent in re.findall(r"^share (\w+) ([\d.]+)$", under["text"], re.M)}
            if under["status"] or not under["bytes"]:
                raise Missing(" ".join(under["text"].split())[-150:])
            weights, samples = dict.fromkeys(true, 0), 0
            for stack, weight in stacks_of(name, os.path.join(folder, "recorded"), folder):
                samples += weight
                for each in true:
                    weights[each] += weight if re.search(rf"\b{each}\b", stack) else 0
            error = max(abs(100 * weights[each] / (sum(weights.values()) or 1) - true[each]) for each in true)
            found.append((error, 100 * (under["cpu"] / plain["cpu"] - 1), 100 * (under["wall"] / plain["wall"] - 1), under["bytes"], under["wait"]))
        for (row, *_), values in zip(SAMPLER_ROWS, zip(*found)):
            rows[row] = statistics.median(values)
        start = [recorded(tool, SHARES, 0, folder=folder)["cpu"] - recorded(None, SHARES, 0, folder=folder)["cpu"] for _ in range(times)]
        rows["sampler_start"] = statistics.median(start)
        recorded(tool, SHARES, SLICES // 5, "kill", folder=folder)
        try:
            rows["sampler_killed"] = 0 if any("heavy_part" in stack for stack, _ in stacks_of(name, os.path.join(folder, "recorded"), folder)) else 100
        except (Missing, OSError):
            rows["sampler_killed"] = 100
    print(json.dumps([rows, "Python " + platform.python_version()]))


def part_samplers(tool, folder):
    """In a Debian that has Python 3.15, with dwell built there."""
    debian = os.path.join(where["peers"], "sid")
    if not os.path.exists(os.path.join(debian, "src/build/dwell")):
        raise Missing(f"no Python 3.15: PYTHON=python3.15 tools/release/check_debian sid {os.path.relpath(debian, ROOT)}")
    shutil.copy(os.path.join(where["bin"], "py-spy"), os.path.join(debian, "usr/local/bin"))
    text = must([os.path.join(ROOT, "tools/release/check_debian"), "sid", debian, "bench/peers.py", "sampler", tool.name, str(options.rounds)], ROOT, {"PYTHON": "python3.15"})
    rows, version = json.loads(text.strip().splitlines()[-1])
    if tool.name == "Python 3.15's sampler":
        results["versions"][tool.name] = version
    yield from rows.items()


# program (in examples/gallery or tests/verdicts/programs), what the first screen must contain: a function or line of the fault, or its name
FAULTS = [
    ("photos.py", r"__getitem__|decompress|num_workers|DataLoader"),
    ("epochs.py", r"persistent_workers|[Ww]orkers? .*epoch|_shutdown_workers|_MultiProcessingDataLoaderIter|popen_fork"),
    ("evaluation.py", r"\btest_loss\b|no_grad|inference_mode|no backward"),
    ("margins.py", r"margin_loss|\bitem\b|_local_scalar_dense|small operators"),
    ("ignite_saves.py", r"[Cc]heckpoint|torch\.save|serialization\.py|\bsave\b"),
    ("lightning_metric.py", r"on_train_batch_end|lightning_metric\.py:3[0-4]\b|argmax"),
    ("ferry_crossings.py", r"features_of|ferry_crossings\.py:(19|2\d|3[0-2])\b"),
    ("parse_trees_gc.py", r"[Cc]ollect|garbage|\bgc\b"),
    ("metrics_ledger.py", r"fsync|\bappend\b|metrics_ledger\.py:(19|2[01])\b"),
    ("box_matching.py", r"\bmatch\b|box_matching\.py:(1[2-9]|2\d|3[0-6])\b"),
    ("keep_best.py", r"torch\.save|[Cc]heckpoint|serialization\.py|\bsave\b"),
    ("herbarium_cards.py", r"__getitem__|\bloads\b|raw_decode|num_workers|DataLoader"),
    ("whitened_features.py", r"\bsvd\b|linalg_svd"),
    ("audited_losses.py", r"\bnote\b|fsync|audited_losses\.py:(1[6-9])\b"),
    ("recipe_books.py", r"\bcollate\b|num_workers|DataLoader|recipe_books\.py:(3[2-9]|40)\b"),
    ("canal_locks.py", r"canal_locks\.py:(19|2\d|3[0-2])\b|small operators|\bstep\b.*canal_locks|foreach|[Oo]ptimizer"),
    ("log.c", r"write_line|fsync|fdatasync|log\.c:(4[7-9]|5\d)\b"),
    ("pairs.c", r"\bforces\b|\bpush\b"),
    ("queue.c", r"\b(fetch|take|load)\b|mutex_lock|[Ww]aiting for a lock"),
    ("rows.cpp", r"row_of"),
]


def part_faults(tool, folder):
    for name, wanted in FAULTS:
        row = "fault " + name
        if not options.again and tool.name in results["rows"].get(row, {}):
            continue
        kind = os.path.splitext(name)[1]
        if ("python" if kind == ".py" else "c") not in tool.kinds and not (kind != ".py" and "-pg" in tool.kinds):
            continue
        source = next(path for path in (os.path.join(ROOT, place, name) for place in ("examples/gallery", "tests/verdicts/programs")) if os.path.exists(path))
        results["gaps"].pop(f"{name} {tool.name}", None)
        if kind == ".py":
            try:
                facts = recorded(tool, source, folder=folder)
            except Missing as why:
                results["gaps"][f"{name} {tool.name}"] = str(why)
                continue
        else:
            text = open(source, encoding="utf-8").read()
            program = os.path.join(folder, os.path.splitext(name)[0])
            must([*(["c++", "-std=c++17"] if kind == ".cpp" else ["cc", "-std=gnu11"]), "-g", "-O2", *["-pg"] * ("-pg" in tool.kinds), *["-fopenmp"] * ("omp" in text),
                  "-I" + os.path.join(ROOT, "include"), source, "-o", program, "-L" + where["build"], "-ldwell", "-Xlinker", "-rpath=" + where["build"], "-lpthread", "-lm"], folder)
            facts = recorded(tool, None, folder=folder, prefix=[program])
        shown = screen(facts["report"])
        os.makedirs(os.path.join(where["peers"], "screens"), exist_ok=True)
        with open(os.path.join(where["peers"], "screens", f"{name}.{re.sub(r'[^a-zA-Z]', '', tool.name)}.txt"), "w", encoding="utf-8") as file:
            file.write(shown)
        yield row, 1 if re.search(wanted, shown) else 0


PARTS = {  # the tools of each
    "ranges": (part_ranges, lambda tool: "marks" in tool.kinds), "functions": (part_functions, lambda tool: tool.name in ("dwell", "uftrace")),
    "calls": (part_calls, lambda tool: tool.name in ("dwell", "cProfile", "viztracer")), "operators": (part_operators, lambda tool: tool.name in ("dwell", "torch.profiler")),
    "training": (part_training, lambda tool: "python" in tool.kinds), "wall": (part_wall, lambda tool: "python" in tool.kinds), "start": (part_start, lambda tool: "python" in tool.kinds),
    "kill": (part_kill, lambda tool: "python" in tool.kinds), "faults": (part_faults, lambda tool: tool.kinds not in ("marks", "samplers")),
    "samplers": (part_samplers, lambda tool: "samplers" in tool.kinds or tool.name in ("dwell", "py-spy")),
}
ROWS = [  # key, what, format, values nearer than this are even, where more is better
    ("range", "a range in C++, ns", "{:.1f}", 1), ("range_bytes", "bytes a range in the file", "{:.1f}", 0.1),
    ("range_lost", "ranges lost after SIGKILL, %", "{:.1f}", 0.1), ("range_report", "from the end of a million ranges to the first report, s", "{:.2f}", 0.02),
    ("function", "a function of C that the compiler marks, ns", "{:.1f}", 1), ("call", "a call in Python, ns", "{:.0f}", 2),
    ("call_memory", "three million calls in Python: memory, MB more", "{:.0f}", 2), ("operator", "an operator of PyTorch, ns", "{:.0f}", 10),
    ("operator_bytes", "bytes an operator in the file", "{:.0f}", 1), ("cnn", "ResNet-18: processor time of the run, % more", "{:.1f}", 1),
    ("transformer", "a small transformer: the same, % more", "{:.1f}", 1), ("train_bytes", "ResNet-18: bytes of the file", "{:,.0f}", 0),
    ("train_memory", "ResNet-18: peak memory, MB more", "{:.0f}", 2), ("train_report", "from its end to the first report, s", "{:.2f}", 0.05),
    ("report_memory", "memory of the process that makes this report, MB", "{:.0f}", 2), ("start_python", "start of `import torch`, processor s more", "{:.2f}", 0.03),
    ("train_killed", "training killed by SIGKILL: no report, %", "{:.0f}", 0), ("faults", "planted faults that the first screen names, %", "{:.0f}", 0),
]


WALL_ROWS = [("cnn_wall", "ResNet-18: time from the start of the tool to the program's end, % more", "{:.1f}", 1), ("transformer_wall", "a small transformer: the same, % more", "{:.1f}", 1)]
SAMPLER_ROWS = [
    ("sampler_share", "largest error of a function's share, points", "{:.1f}", 0.5), ("sampler_cpu", "processor time of the run, % more", "{:.1f}", 0.5),
    ("sampler_wall", "time to the program's end, % more", "{:.1f}", 0.5), ("sampler_bytes", "bytes of the file", "{:,.0f}", 0), ("sampler_report", "from its end to the first report, s", "{:.2f}", 0.05),
    ("sampler_start", "a run without work, processor s more", "{:.2f}", 0.03), ("sampler_killed", "killed by SIGKILL: no report, %", "{:.0f}", 0),
]


def store():
    with open(STORE + ".new", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    os.replace(STORE + ".new", STORE)


def measure(parts):
    for part in parts:
        function, fits = PARTS[part]
        for tool in [each for each in TOOLS if fits(each) and (not options.tools or each.name in options.tools.split(","))]:
            key = f"{part} {tool.name}"
            if key in results["done"] and not options.again:
                continue
            print(f"{part}: {tool.name} ...", end=" ", flush=True)
            began = time.monotonic()
            try:
                with tempfile.TemporaryDirectory(dir=where["peers"]) as folder:
                    for row, value in function(tool, folder):
                        results["rows"].setdefault(row, {})[tool.name] = value
                        print(f"{row} {value:.4g};", end=" ", flush=True)
                        store()
                if tool.version and tool.name not in results["versions"]:
                    results["versions"][tool.name] = must(words(tool.version), ROOT).strip().splitlines()[0]
                results["done"][key] = [datetime.date.today().isoformat(), round(os.getloadavg()[0], 1), options.rounds]
                results["gaps"].pop(key, None)
            except (Missing, OSError, ZeroDivisionError) as error:
                results["gaps"][key] = str(error).replace(ROOT + "/", "")[:200]
                print("missing:", error, end=" ")
            print(f"{time.monotonic() - began:.0f} s")
            store()


# ---- the page -------------------------------------------------------------------------------------------------------------------------

def named(tool, seen_by=None):
    """What part of the faults that a tool (and `seen_by`) could see its first screen names, in percent; and how many these are."""
    found = [values[tool] for row, values in results["rows"].items() if row.startswith("fault ") and tool in values and (seen_by or tool) in values]
    return (100 * sum(found) / len(found), len(found)) if found else (None, 0)


def place(key, values, even):
    """`first`, `even with X`, or who is before dwell."""
    if key == "faults":  # of the programs that both have seen
        excess = {name: named("dwell", name)[0] - value for name, value in values.items()}
    else:
        excess = {name: value - values["dwell"] for name, value in values.items()}
    others = [name for name in values if not name.startswith("dwell")]
    before = sorted((name for name in others if excess[name] < -even), key=excess.get)
    level = [name for name in others if abs(excess[name]) <= even]
    return ", ".join(before) + " before dwell" if before else "even with " + ", ".join(level) if level else "**first**"


def table_of(rows, shown):
    """Lines of a table, and dwell's places."""
    table, places = [], []
    for key, what, form, even in rows:
        values = results["rows"].get(key, {})
        where_dwell = place(key, values, even) if "dwell" in values and len(values) > 1 else "not measured"
        places.append(where_dwell)
        table.append(f"| {what} | " + " | ".join(form.format(values[name] or 0) if name in values else "" for name in shown) + f" | {where_dwell} |")
    return table, places


def columns_of(rows):
    return [tool.name for tool in TOOLS if any(tool.name in results["rows"].get(key, {}) for key, *_ in rows)]


def head_of(what, shown):
    return [f"| {what} | " + " | ".join(shown) + " | dwell's place |", "|---|" + "---:|" * len(shown) + "---|"]


def page():
    shown, walls, samplers = (columns_of(rows) for rows in (ROWS, WALL_ROWS, SAMPLER_ROWS))
    judged = [name for name in shown if named(name)[1]]
    # A share only of tools that have seen all that they can see.
    results["rows"]["faults"] = {name: named(name)[0] for name in judged if f"faults {name}" in results["done"]}
    table, places = table_of(ROWS, shown)
    first, level = places.count("**first**"), sum(each.startswith("even") for each in places)
    loads, made = [each[1] for each in results["done"].values()], [(each + [1])[2] for each in results["done"].values()]
    wall = ["## Wall-clock time", "", "The same programs, in pairs of a run without a tool and one with it. Other programs on the machine lengthen both.", "", *head_of("less is better", walls), *table_of(WALL_ROWS, walls)[0], ""] if walls else []
    sampler_python = results["versions"].get("Python 3.15's sampler", "Python 3.15")
    sampled = ["## Samplers with Python 3.15", "", f"A script of four functions in Python, whose shares of the processor's time it measures itself ({os.path.relpath(SHARES, ROOT)}), with {sampler_python} "
               "in a Debian sid, where dwell was built: `PYTHON=python3.15 tools/release/check_debian sid build/peers/sid`. dwell takes 100 samples a second of each thread's processor time, Python's sampler 1000 a second and py-spy 100 of the time that passes.", "",
               *head_of("less is better", samplers), *table_of(SAMPLER_ROWS, samplers)[0], ""] if samplers else []
    lines = ["# dwell and other profilers on the same programs", "", "For users who choose a profiler, and who want to repeat the comparison.", "",
             f"`bench/peers.py` measured this, {' to '.join(sorted({each[0] for each in results['done'].values()}))}, on {results['machine']}; "
             f"load of the machine while it measured {min(loads)} to {max(loads)}; each figure is the median of {' to '.join(map(str, sorted({min(made), max(made)})))} run(s). Above a load of 1.5, differences of a few percent mean nothing.", "",
             f"dwell has the first place in {first + level} of {len(ROWS)} rows, in {level} of them together with another tool. It is behind one in {sum('before' in each for each in places)}"
             f"{f', and {unmeasured} are not measured' if (unmeasured := places.count('not measured')) else ''}.", "",
             *head_of("less is better, but for the last row", shown), *table, "",
             "An empty cell: the tool does not do this, or it was not measured. Processor time holds all processes of the tool. Tools differ in what they keep: cProfile, perf, py-spy, scalene "
             "and TraceML keep sums or samples, and their files are small for it; viztracer keeps each call of Python.", "", *wall, *sampled, "## Planted faults", "",
             f"The rule: what a tool shows first, cut at {LINES} lines, must contain a function or line of the fault, or its name; `FAULTS` in bench/peers.py has the patterns. The same holds for dwell. "
             "A function that is found among 40 others counts as named. In the table above, dwell's place is by the programs that both tools have seen.", "", "| program | " + " | ".join(judged) + " |", "|---|" + ":-:|" * len(judged)]
    for name, _ in FAULTS:
        values = results["rows"].get("fault " + name, {})
        lines.append(f"| {name} | " + " | ".join({1: "yes", 0: "no"}.get(values.get(tool), "") for tool in judged) + " |")
    lines += ["", "## Tools and commands", "", "| tool | from | version | command | first report |", "|---|---|---|---|---|"]
    for tool in TOOLS:
        version = results["versions"].get(tool.name, "not here").replace("|", "")[:60]
        here = {name: "" if name == "bin" else name for name in where}
        shown_as = [re.sub(r"(^|\s)/", r"\1", text.replace(HERE + "/", "bench/").format(out="FILE", **here)) for text in (tool.record, tool.report)]
        lines.append(f"| {tool.name}{': ' + tool.note if tool.note else ''} | {tool.of} | {version} | {'`' + shown_as[0] + '`' if shown_as[0] else 'the program is built with it'} | "
                     f"{'`' + shown_as[1] + '`' if shown_as[1] else 'at the end of the run'} |")
    lines += ["", "## What is not there", ""] + [f"- {key.split(' ', 1)[1]}, {key.split(' ', 1)[0]}: {why}" for key, why in sorted(results["gaps"].items())]
    open_parts = [f"{tool.name}, {part}" for part, (_, fits) in PARTS.items() for tool in TOOLS if fits(tool) and not {f"{part} {tool.name}"} & (set(results["done"]) | set(results["gaps"]))]
    busy = [f"{key.split(' ', 1)[1]}, {key.split(' ', 1)[0]}" for key, (_, load, *_) in results["done"].items() if load > BUSY]
    lines += [f"- The last result at a load above {BUSY}, where seconds to the first report are several times too long: {'; '.join(busy)}."] if busy else []
    lines += [f"- Not measured yet, or not to the end: {'; '.join(open_parts)}."] if open_parts else []
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(line.rstrip() for line in lines) + "\n")


def main():
    global options, results
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tools")
    for name in ("--again", "--list", "--page"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("parts", nargs="*")
    options = parser.parse_args()
    if set(options.parts) - set(PARTS):
        parser.error("no such part: " + ", ".join(set(options.parts) - set(PARTS)))
    if options.list:
        print("\n".join([f"{tool.name:16} {tool.of:12} {tool.kinds}" for tool in TOOLS] + [what for _, what, *_ in ROWS]))
        return 0
    build = os.path.abspath(options.build)
    where.update(build=build, peers=os.path.join(build, "peers"), dwell=os.path.join(build, "dwell"))
    where.update({name: os.path.join(where["peers"], name) for name in ("tracy", "caliper", "perfetto")})
    os.makedirs(where["peers"], exist_ok=True)
    venv = [os.path.join(ROOT, "tools/venv")]
    where["python"] = subprocess.run([*venv, "torch"], capture_output=True, text=True, check=True).stdout.split()[-1]
    where["packages"] = subprocess.run([*venv, "--packages", "peers"], capture_output=True, text=True, check=True).stdout.split()[-1]
    where["bin"] = os.path.dirname(subprocess.run([*venv, "peers"], capture_output=True, text=True, check=True).stdout.split()[-1])
    results = {"machine": "", "versions": {}, "rows": {}, "done": {}, "gaps": {}}
    if os.path.exists(STORE):
        with open(STORE, encoding="utf-8") as file:
            results = json.load(file)
    results["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}, Python {platform.python_version()}"
    if not options.page or options.parts:
        measure(options.parts or list(PARTS))
    if options.page:
        page()
    return 1 if results["gaps"] else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["under_torch"]:
        under_torch(*sys.argv[2:])
    elif sys.argv[1:2] == ["sampler"]:
        sampler(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(main())
