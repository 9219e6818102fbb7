#!/usr/bin/env python3
"""Compares views and renderers with expected files, on small traces with given times.

usage: run.py [--update] MKTRACE DWELL [PART-OF-A-NAME...]

MKTRACE makes a trace of each views/NAME.txt, and `dwell report` prints it in the ways listed in
CASES below. The output must be views/expected/NAME.CASE, byte for byte. An expected file also
has stderr and the exit status, if they are not empty and 0.
--update writes the expected files anew (tools/update_golden does that for all of them).
The last line is "N passed, N failed".
"""
import difflib
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios

HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = os.path.join(HERE, "views")
EXPECTED = os.path.join(TRACES, "expected")
VIEWS = ["overview", "steps", "phases", "actions", "operators", "tree", "threads"]
FORMATS = ["text", "csv", "json", "md"]

# Of each trace: (name of the case, width of the terminal or 0 for a pipe, arguments).
CASES = {
    "places": [(f"{view}.{form}", 0, ["--view", view, "--format", form])
               for view, form in (("operators", "text"), ("operators", "csv"), ("actions", "text"), ("tree", "text"),
                                  ("calls", "text"))]
    + [(f"operators.{width}", width, ["--view", "operators"]) for width in (80, 120)],
    "train": [(f"{view}.{form}", 0, ["--view", view, "--format", form]) for view in VIEWS for form in FORMATS]
    + [(f"{view}.html", 0, ["--view", view, "--format", "html"]) for view in ("overview", "tree")]
    + [(f"{view}.{width}", width, ["--view", view]) for view in VIEWS for width in (80, 120)]
    + [
        ("overview.color", 100, ["color"]),
        ("operators.ascii", 120, ["ascii", "--view", "operators"]),
        ("operators.sorted", 0, ["--view", "operators", "--sort", "calls", "--limit", "3"]),
        ("tree.sorted", 0, ["--view", "tree", "--sort", "self_ns"]),
        ("tree.all", 0, ["--view", "tree", "--limit", "all"]),
        ("steps.all", 0, ["--view", "steps", "--limit", "all"]),
        ("steps.scope", 0, ["--view", "steps", "--steps", "28..31"]),
        ("operators.scope", 0, ["--view", "operators", "--steps", "30", "--thread", "train"]),
        ("overview.scope", 0, ["--steps", "30..31"]),
        ("two.text", 0, ["--view", "phases", "--view", "threads"]),
        ("two.csv", 0, ["--view", "phases", "--view", "threads", "--format", "csv"]),
        ("two.json", 0, ["--view", "phases", "--view", "threads", "--format", "json"]),
    ],
    "samples": [(f"hot.{form}", 0, ["--view", "hot", "--format", form]) for form in FORMATS]
    + [(f"hot.{by.replace(',', '_')}", 0, ["--view", "hot", "--group-by", by])
       for by in ("line", "thread", "phase", "range", "python", "line,phase", "file")]
    + [("hot.scope", 0, ["--view", "hot", "--steps", "3..4"]), ("hot.pool", 0, ["--view", "hot", "--thread", "pool"]),
       ("hot.80", 80, ["--view", "hot"]), ("overview.text", 0, []), ("facts.text", 0, ["--view", "facts"])],
    "samples_alone": [("overview.text", 0, []), ("overview.json", 0, ["--format", "json"]), ("overview.80", 80, []),
                      ("hot.text", 0, ["--view", "hot"])],
    "samples_of_names": [("overview.text", 0, [])],
    "nosteps": [(f"{view}.text", 0, ["--view", view]) for view in VIEWS]
    + [("handlers.text", 0, ["--view", "handlers"])]
    + [("overview.json", 0, ["--format", "json"]), ("actions.csv", 0, ["--view", "actions", "--format", "csv"]),
       ("actions.md", 0, ["--view", "actions", "--format", "md"])],
    "python": [(f"{view}.text", 0, ["--view", view]) for view in VIEWS] + [("overview.80", 80, [])],
    "loader": [(f"{view}.{form}", 0, ["--view", view, "--format", form])
               for view in ("overview", "dataloader", "gc", "facts") for form in ("text", "json")],
    "ranks": [(f"{view}.text", 0, ["--view", view]) for view in VIEWS],
    "names": [(f"operators.{form}", 0, ["--view", "operators", "--format", form]) for form in [*FORMATS, "html"]]
    + [(f"operators.{width}", width, ["--view", "operators"]) for width in (40, 80, 120)]
    + [("operators.csv.terminal", 80, ["--view", "operators", "--format", "csv"])],
    "memory": [(f"memory.{form}", 0, ["--view", "memory", "--format", form]) for form in FORMATS]
    + [("memory.scope", 0, ["--view", "memory", "--steps", "0"]), ("memory.80", 80, ["--view", "memory"])],
    "heap": [(f"heap.{form}", 0, ["--view", "heap", "--format", form]) for form in FORMATS]
    + [("heap.80", 80, ["--view", "heap"]), ("heap.scope", 0, ["--view", "heap", "--steps", "0..3"]),
       ("memory.text", 0, ["--view", "memory"]), ("verdict.text", 0, ["--view", "verdict"])],
    "engine": [(f"{view}.{form}", 0, ["--view", view, "--format", form])
               for view in ("events", "handlers") for form in FORMATS]
    + [("events.evaluator", 0, ["--view", "events", "--engine", "evaluator"]),
       ("handlers.evaluator", 0, ["--view", "handlers", "--engine", "evaluator"]),
       ("events.scope", 0, ["--view", "events", "--thread", "train", "--sort", "total"]),
       ("overview.text", 0, []),
       ("layout", 0, ["--layout", "ignite"]),
       ("layout.basic", 0, ["--layout", "ignite:basic", "--engine", "evaluator"]),
       ("layout.handlers", 0, ["--layout", "ignite:handlers", "--engine", "evaluator"]),
       ("layout.wrong", 0, ["--layout", "ignite:timer"]),
       ("engine.wrong", 0, ["--view", "events", "--engine", "trainr"])],
    "layers": [(f"layers.{form}", 0, ["--view", "layers", "--format", form]) for form in FORMATS]
    + [("layers.120", 120, ["--view", "layers"]), ("operators.text", 0, ["--view", "operators"]),
       ("torchprof", 0, ["--layout", "torchprof"]),
       ("layers.events", 0, ["--view", "layers", "--events"]),
       ("layers.per-call", 0, ["--view", "layers", "--per-call", "--events", "--paths", "Net.stem,Net.block"]),
       ("layers.leaves", 0, ["--view", "layers", "--leaves", "--sort", "backward"]),
       ("layers.paths", 0, ["--view", "layers", "--paths", "Net.*m,Net.block.0"]),
       ("layers.calls.csv", 0, ["--view", "layers", "--per-call", "--events", "--format", "csv"]),
       ("layers.wrong", 0, ["--view", "layers", "--paths", "Net.stem,Net.blok"]),
       ("torchprof.events", 0, ["--layout", "torchprof", "--events"]),
       ("torchprof.paths", 0, ["--layout", "torchprof", "--paths", "Net.block,Net.head"]),
       ("torchprof.both", 0, ["--layout", "torchprof", "--paths", "Net.block", "--events"]),
       ("torchprof.wrong", 0, ["--layout", "torchprof", "--paths", "Nte.stem"]),
       ("layers.scope", 0, ["--view", "layers", "--steps", "0", "--thread", "train"])],
    "backward": [("layers.text", 0, ["--view", "layers"]),
                 ("layers.calls", 0, ["--view", "layers", "--per-call", "--events"]),
                 ("operators.text", 0, ["--view", "operators"]),
                 ("torchprof", 0, ["--layout", "torchprof"]),
                 ("torchprof.events", 0, ["--layout", "torchprof", "--events"])],
    "device": [(f"{view}.{form}", 0, ["--view", view, "--format", form])
               for view in ("device", "kernels", "streams") for form in FORMATS]
    + [(f"{view}.80", 80, ["--view", view]) for view in ("device", "kernels", "streams")]
    + [(f"{view}.scope", 0, ["--view", view, "--steps", "1"]) for view in ("device", "kernels", "streams")]
    + [("overview.text", 0, [])],
    "device_lost": [("overview.text", 0, [])], "device_alone": [("overview.text", 0, [])],
    "device_nosteps": [(f"{view}.text", 0, ["--view", view]) for view in ("overview", "device", "kernels")]
    + [("overview.json", 0, ["--format", "json"])],
    "device_train": [(f"{view}.{form}", 0, ["--view", view, "--format", form]) for form in ("text", "json")
                     for view in ("operators", "calls", "layers", "phases", "steps", "sequence", "handlers",
                                  "events", "actions", "tree")]
    + [("layers.calls", 0, ["--view", "layers", "--per-call", "--events"]),
       ("calls.stacks", 0, ["--view", "calls", "--group-by", "shape", "--sort", "device_ns"]),
       ("operators.scope", 0, ["--view", "operators", "--steps", "1"]),
       ("phases.scope", 0, ["--view", "phases", "--steps", "1"]),
       ("tree.thread", 0, ["--view", "tree", "--thread", "pt_autograd_0"]),
       ("operators.80", 80, ["--view", "operators"]),
       ("torch", 0, ["--layout", "torch"]), ("torch.top", 0, ["--layout", "torch", "--top-level"]),
       ("torchprof", 0, ["--layout", "torchprof"]), ("torchprof.events", 0, ["--layout", "torchprof", "--events"]),
       ("singa", 0, ["--layout", "singa"])],
    "values": [(f"{view}.{form}", 0, ["--view", view, "--format", form])
               for view in ("counters", "marks", "async", "flows") for form in ("text", "csv")]
    + [("counters.scope", 0, ["--view", "counters", "--steps", "1..2"]),
       ("marks.scope", 0, ["--view", "marks", "--steps", "1"])],
    "flops": [(f"flops.{form}", 0, ["--view", "flops", "--format", form]) for form in FORMATS],
    "calls": [(f"calls.{form}", 0, ["--view", "calls", "--format", form]) for form in FORMATS]
    + [(f"operators.{name.replace(':', '')}", 0, ["--view", "operators", "--group-by", name])
       for name in ("shape", "overload", "stack:2", "shape,stack:1")]
    + [("operators.stack.json", 0, ["--view", "operators", "--group-by", "shape,stack:2", "--format", "json"]),
       ("operators.top", 0, ["--view", "operators", "--top-level"]),
       ("operators.us", 0, ["--view", "operators", "--time-unit", "us"]),
       ("calls.ms.md", 0, ["--view", "calls", "--time-unit", "ms", "--format", "md"]),
       ("calls.sorted", 0, ["--view", "calls", "--sort", "self_bytes", "--limit", "3"])]
    + [(f"{version.replace(':', '')}.{name}", 0, ["--layout", version, *options])
       for version in ("torch", "torch:1.13")
       for name, options in (("plain", []), ("sorted", ["--sort", "self_cpu_time_total", "--limit", "4"]),
                             ("shape", ["--group-by", "shape", "--sort", "cpu_time_total"]),
                             ("overload", ["--group-by", "overload"]), ("stack", ["--group-by", "stack:5"]),
                             ("top", ["--top-level", "--header", "TOP"]), ("us", ["--time-unit", "us"]),
                             ("none", ["--limit", "all", "--thread", "backward"]))]
    + [("torch.widths", 0, ["--layout", "torch", "--group-by", "shape,stack:2", "--limit", "4", "--widths",
                            "name=12,shapes=14,source=20"]),
       ("torch.nowidths", 0, ["--layout", "torch", "--widths", "name=x"])]
    + [("torch.nosort", 0, ["--layout", "torch", "--sort", "self_cpu_time"]),
       ("torch.noversion", 0, ["--layout", "torch:3"]), ("torch.ns", 0, ["--layout", "torch", "--time-unit", "ns"])],
    "singa": [("layout", 0, ["--layout", "singa"])]
    + [(f"layout.{level}", 0, ["--layout", "singa", "--verbosity", level]) for level in "0123"]
    + [("layout.all", 0, ["--layout", "singa", "--skip-iteration", "0"]),
       ("layout.none", 0, ["--layout", "singa", "--skip-iteration", "15"]),
       ("layout.version", 0, ["--layout", "singa:3"]), ("sequence.text", 0, ["--view", "sequence"]),
       ("sequence.none", 0, ["--view", "sequence", "--skip-iteration", "99"])],
    "sequence": [(f"sequence.{form}", 0, ["--view", "sequence", "--format", form]) for form in FORMATS]
    + [("sequence.80", 80, ["--view", "sequence"]),
       ("sequence.sorted", 0, ["--view", "sequence", "--sort", "drift", "--limit", "3"]),
       ("sequence.skip", 0, ["--view", "sequence", "--skip-iteration", "1"]),
       ("sequence.scope", 0, ["--view", "sequence", "--steps", "20..30", "--limit", "6"]),
       ("sequence.thread", 0, ["--view", "sequence", "--thread", "main", "--limit", "3"]),
       ("layout", 0, ["--layout", "singa"]), ("layout.1", 0, ["--layout", "singa", "--verbosity", "1"])],
    "profiles": [(f"operators.{name}", 0, ["--view", "operators", "--profile", name])
                 for name in ("train", "late", "own")]
    + [("operators.json", 0, ["--view", "operators", "--profile", "train", "--format", "json"]),
       ("overview.text", 0, ["--profile", "late"]),
       ("operators.none", 0, ["--view", "operators", "--profile", "tarin"])],
    "lightning": [("layout", 0, ["--layout", "lightning"]),
                  ("layout.fit", 0, ["--layout", "lightning", "--profile", "fit"]),
                  ("layout.short", 0, ["--layout", "lightning-short"]),
                  ("layout.limit", 0, ["--layout", "lightning", "--profile", "test", "--limit", "1"]),
                  ("actions.text", 0, ["--view", "actions"]),
                  ("layout.pytorch", 0, ["--layout", "lightning-pytorch"]),
                  ("pstats", 0, ["--layout", "pstats"]),
                  ("pstats.action", 0, ["--layout", "pstats:0.5", "--action", "outer", "--sort", "calls"]),
                  ("pstats.wrong", 0, ["--layout", "pstats:half"]),
                  ("pstats.sort", 0, ["--layout", "pstats", "--sort", "cumulatif"]),
                  ("action.wrong", 0, ["--view", "functions", "--action", "innner"]),
                  ("tree.inner", 0, ["--view", "tree", "--action", "inner", "--profile", "fit"])]
    + [(f"functions.{form}", 0, ["--view", "functions", "--action", "outer", "--format", form])
       for form in FORMATS],
    "empty": [(f"{view}.text", 0, ["--view", view]) for view in VIEWS] + [("overview.json", 0, ["--format", "json"])],
}
# Figures against times that the traces' comments state.
CASES.update({
    "figures_named": [(f"{view}.text", 0, ["--view", view]) for view in ("overview", "phases", "steps")]
    + [("overview.json", 0, ["--format", "json"]), ("overview.scope", 0, ["--steps", "4..5"])],
    "figures_threads": [(f"{view}.text", 0, ["--view", view])
                        for view in ("overview", "phases", "operators", "threads", "tree", "sequence")]
    + [("operators.thread", 0, ["--view", "operators", "--thread", "worker [22]"])],
    "figures_newest": [(f"{view}.text", 0, ["--view", view]) for view in ("overview", "phases", "steps")],
    "figures_oldest": [(f"{view}.text", 0, ["--view", view]) for view in ("overview", "phases", "steps")],
    "figures_both": [("overview.text", 0, [])],
    "one_place": [(f"operators.{form}", 0, ["--view", "operators", "--format", form]) for form in ("text", "csv")],
    "recorders": [(f"{view}.text", 0, ["--view", view]) for view in ("overview", "actions")],
    "figures_functions": [("overview.text", 0, [])],
    "figures_recursion": [(f"{view}.text", 0, ["--view", view])
                          for view in ("calls", "tree", "actions", "operators")],
    "figures_layers": [("overview.text", 0, []), ("layers.text", 0, ["--view", "layers"])],
    "figures_cost": [("overview.text", 0, [])],
    "figures_cupti": [("overview.text", 0, [])],
    "reduced": [(f"{view}.text", 0, ["--view", view])
                for view in ("overview", "steps", "phases", "operators", "layers", "tree")]
    + [(f"facts.{fact}", 0, ["--view", "facts", "--format", "csv", "--name", f"*.{fact}"])
       for fact in ("operators", "profiler")],
})
CASES.update({f"verdict_{cause}": [("text", 0, [])]
              for cause in ("python", "small", "operator", "idle", "device", "growth")})
counts = {True: 0, False: 0}


def on_terminal(command, width, environment, folder):
    """What a command prints on a terminal of `width` columns, stdout and stderr together."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    attributes = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST  # no carriage returns
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                               env=environment, cwd=folder)
    os.close(slave)
    output = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # that is how a terminal ends
            break
        if not piece:
            break
        output += piece
    os.close(master)
    return output, b"", process.wait()


def run(command, width, words, folder):
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "TERM": "xterm"}
    for name in os.environ:  # the options of sanitizers
        if name.endswith("SAN_OPTIONS") or name == "LD_LIBRARY_PATH":
            environment[name] = os.environ[name]
    if "color" not in words:
        environment["NO_COLOR"] = "1"
    if "ascii" in words:
        environment["LC_ALL"] = "C"
    command = command + [word for word in words if word not in ("color", "ascii")]
    if width:
        output, errors, status = on_terminal(command, width, environment, folder)
    else:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=environment,
                              cwd=folder, check=False)
        output, errors, status = done.stdout, done.stderr, done.returncode
    if errors:
        output += b"---- stderr\n" + errors
    if status:
        output += b"---- exit status %d\n" % status
    return output


def compare(name, output, update):
    path = os.path.join(EXPECTED, name)
    wanted = b""
    if os.path.exists(path):
        with open(path, "rb") as file:
            wanted = file.read()
    if output == wanted:
        counts[True] += 1
    elif update:
        counts[True] += 1
        print(f"updated {name}")
        with open(path, "wb") as file:
            file.write(output)
    else:
        counts[False] += 1
        print(f"FAILED {name}")
        lines = [text.decode("utf-8", "backslashreplace").splitlines() for text in (wanted, output)]
        print("\n".join(difflib.unified_diff(*lines, "expected", "got", lineterm="")))


def check_json(name, output):
    """Each JSON document has the parts that programs rely on."""
    document = json.loads(output.split(b"---- stderr\n")[0].decode("utf-8"))
    good = document["dwell"] == 1 and document["views"]
    for view in document["views"]:
        good = good and {"view", "traces", "scope", "columns", "rows", "totals", "coverage", "losses",
                         "notes"} <= set(view)
        good = good and all(len(row) == len(view["columns"]) for row in view["rows"])
        good = good and all(set(column) == {"name", "label", "unit", "type"} for column in view["columns"])
    counts[bool(good)] += 1
    if not good:
        print(f"FAILED {name}: a part of the document is missing")


def main():
    arguments = [word for word in sys.argv[1:] if word != "--update"]
    update = "--update" in sys.argv
    mktrace, dwell = (os.path.abspath(path) for path in arguments[:2])
    wanted = arguments[2:]
    used = set()
    with tempfile.TemporaryDirectory() as folder:
        for trace, cases in CASES.items():
            made = subprocess.run([mktrace, os.path.join(TRACES, trace + ".txt"), trace + ".dwell"],
                                  cwd=folder, check=False)
            if made.returncode:
                counts[False] += 1
                continue
            for case, width, words in cases:
                name = f"{trace}.{case}"
                used.add(name)
                if wanted and not any(part in name for part in wanted):
                    continue
                output = run([dwell, "report", trace + ".dwell"], width, words, folder)
                compare(name, output, update)
                if "json" in words:
                    check_json(name, output)
    for name in sorted(set(os.listdir(EXPECTED)) - used):
        print(f"{'removed' if update else 'FAILED: nobody makes'} {name}")
        if update:
            os.remove(os.path.join(EXPECTED, name))
        else:
            counts[False] += 1
    print(f"{counts[True]} passed, {counts[False]} failed")
    return counts[False] != 0


sys.exit(main())
