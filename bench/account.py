#!/usr/bin/env python3
"""What each instruction and each nanosecond of a range, a step, an operator and a call stack is for.

usage: bench/account.py BUILD [PART...]     writes doc/measured/account.md (without PART: all parts)

Instructions are counted by Valgrind for each source line: a case runs with few and with many records, and the difference is what
a record takes. Times are measured without Valgrind: the case's CPU time by bench_cost, and which share of it each source line has
by samples of perf, 20,000 a second. Both are added up by piece. The tables below say which lines a piece has: the first piece whose pattern is in
"file:function: text of the line" gets the line. Needs valgrind, perf, addr2line and a build with debug information. The machine must be quiet.
"""
import collections
import functools
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PAGE = os.path.join(ROOT, "doc", "measured", "account.md")
ROUNDS, SAMPLED_ROUNDS = 9, 6
OPERATORS = 10000

RECORD = (
    ("reading the clock, at the begin and at the end", r":(dwell_ticks|dw_now|dw_clock_read):"),
    ("whether it is recorded: the gate's mask", r":dwell_wants:|:dwell_begin:|:dwell_slow_range"),
    ("the name's id", r":dwell_site_id:"),
    ("the block's variable, which ends the range on every way out", r":(dwell_block_\w+|dwell_end|dwell_step_enter|dwell_step_leave):"),
    ("the session and the thread's stream", r"dwell_this_stream|:(dw_slot_here|dw_session_head|dw_session_map):"),
    ("signal handlers are kept away: the word `busy`", r"busy|signal_fence"),
    ("whether the chunk has space", r":dwell_has_space:"),
    ("the time since the last record", r":(dwell_put|probe_put|scope_put)\w*:.*(delta|ticks)"),
    ("storing the record's words", r":(dwell_put|probe_put|scope_put)\w*:"),
    ("a new chunk of the file", r"^(chunk|window|stream|process)\.c:"),
    ("the benchmark's own loop", r"^(cost|deep)\.c:"),
)
STEP = (
    ("the number of the step, which all threads count", r":step_open:.*(fetch_add|number)|dwell_gate, __ATOMIC_ACQUIRE"),
    ("the gate follows the step", r":(gate_\w+|step_openness|step_move_gate|step_flags|step_is_chosen|step_end_at):|gate"),
    ("whether a capture has ended", r"dw_step_look|capture"),
    ("whether the kernel's account is due", r":step_now:|usage"),
    ("whether the CPU time is worth its system call", r":step_cpu_worth_reading:|cpu"),
    ("whether a clock entry is due", r":dw_journal_(look|clock)\w*:|dw_journal_look"),
    ("whether the thread summarises its steps", r":step_summarises:"),
    ("an entry in the journal: taking it", r":(step_take_reserved|step_reserve|dw_journal_try|journal_\w+|dw_journal_reserve|dw_step_summary_\w+):"),
    ("an entry in the journal: writing it", r":(step_write|dw_journal_commit):"),
    ("the end of the step, in its entry", r":step_close\w*:"),
    ("errno is kept", r"errno|DW_KEEP_ERRNO"),
    ("a step is a block: ranges that longjmp() left", r"^scope\.c:"),
    ("the profile's schedule", r"^(profile|schedule)\.c:|schedule"),
    ("the rest of the calls of step.c", r"^step\.c:"),
)
STACK = (
    ("comparing the frames with those of the last walk", r":(stack_differs|stack_frame_differs|stack_has_changed|stack_compare):"),
    ("walking the frames that differ", r":(stack_walk|stack_push|stack_is_readable|stack_beyond_own):"),
    ("the hash, and keeping the walk", r":(stack_keep|stack_hash_on):"),
    ("whether the stack is the thread's own", r":(on_own_stack|stack_reaches_end|stack_forget_if_unloaded):"),
    ("the cache of stacks by hash", r":dw_stack_here:|^stack\.c::"),
    ("the operator's begin and end with a stack", r":(dw_begin_with_stack|probe_begin_among|dwell_slow_range\w*):"),
)
OPERATOR = (
    ("the hash of the sizes", r":operators_hash_tensors:"),
    ("the thread's cache of sizes", r":operators_(cached|shapes_at):"),
    ("the rest of the operator's begin", r"^operators\.c:"),
)
# part: case of bench_cost, records of a sampled run, pieces
PARTS = {
    "range": (4000000, RECORD),
    "step": (1000000, STEP + RECORD),
    "idle": (1000000, STEP + RECORD),
    "shapes": (2000000, OPERATOR + RECORD),
    "stack": (2000000, STACK + RECORD),
}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"account: {' '.join(command)}: {done.stderr[-600:]}")
    return done.stdout


# ---- source lines -------------------------------------------------------------------------------


@functools.lru_cache(None)
def source(path):
    """For each line of a file of this project its text and its function."""
    within = re.search(r"(?:^|/)((?:bench|include|probes|src)/.*)", path)  # with ccache the paths may be of another checkout
    path = os.path.join(ROOT, within[1]) if within else ""
    if not os.path.isfile(path):
        return []
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    found, head, name = [], "", ""
    for line in lines:
        if re.match(r"[A-Za-z_]", line):
            head = re.sub(r"__attribute__\(\(.*?\)\)\)?", "", line)
            called = re.match(r"(?:[\w*]+ +)*\**(\w+)\(", head)
            name = called[1] if called and not line.rstrip().endswith(";") else name
        found.append((line.strip(), name))
        if line.startswith("}"):
            name = ""
    return found


def key_of(path, line, symbol, library):
    """What the patterns of the pieces are compared with."""
    lines = source(path) if path else []
    if 0 < line <= len(lines):
        return f"{os.path.basename(path)}:{lines[line - 1][1]}: {lines[line - 1][0]}"
    if "kernel" in library:
        return "kernel"
    return f"{os.path.basename(library)}:{symbol}:"


def add_up(by_key, pieces):
    sums = collections.Counter()
    for key, value in by_key.items():
        piece = next((name for name, pattern in pieces if re.search(pattern, key)), None)
        piece = piece or ("the kernel: pages of the file" if key == "kernel" else "others")
        if piece == "others" and "-v" in sys.argv:
            print(f"   others: {value:8.2f} {key}")
        sums[piece] += value
    return sums


# ---- instructions ------------------------------------------------------------------------------


def instructions(out):
    """Instructions of each source line, by its key, of a file of callgrind."""
    sums, library, file, symbol, skip = collections.Counter(), "", "", "", False
    names = {}
    with open(out, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            named = re.match(r"(c?(?:ob|fl|fi|fe|fn))=\((\d+)\)(?: (.*))?", line)
            if named:
                kind = named[1]
                table = {"o": "ob", "f": "fn" if kind.endswith("fn") else "fl"}[kind.lstrip("c")[0]]
                if named[3] is not None:
                    names[table, named[2]] = named[3]
                value = names.get((table, named[2]), "")
                library = value if kind == "ob" else library
                file = value if kind in ("fl", "fi", "fe") else file
                symbol = value if kind == "fn" else symbol
            elif line.startswith("calls="):
                skip = True
            elif line[:1].isdigit():
                if not skip:
                    at, cost = line.split()[:2]
                    sums[key_of(file, int(at), symbol, library)] += int(cost)
                skip = False
    return sums


CALLGRIND = ["valgrind", "--tool=callgrind", "--dump-line=yes", "--compress-pos=no"]


def count(folder, command):
    out = os.path.join(folder, "callgrind.out")
    run([*CALLGRIND, f"--callgrind-out-file={out}", *command])
    return instructions(out)


def count_case(build, folder, case):
    few, many = (count(folder, [os.path.join(build, "bench/bench_cost"), folder, case, str(n)]) for n in (20000, 120000))
    return {key: (many[key] - few[key]) / 100000 for key in many if many[key] != few[key]}


# ---- times -------------------------------------------------------------------------------------


@functools.lru_cache(None)
def symbols(path):
    """The address of each symbol of a file."""
    found = {}
    for line in run(["nm", path]).splitlines():
        address, kind, name = (line.split() + ["", "", ""])[:3]
        if kind in "tTwWi":
            found.setdefault(name, int(address, 16))
    return found


def lines_of(path, places):
    """The file and line of each (symbol, offset)."""
    addresses = [hex(symbols(path).get(name, 0) + offset) for name, offset in places]
    out = subprocess.run(["addr2line", "-e", path], input="\n".join(addresses), capture_output=True, text=True, check=True).stdout
    return dict(zip(places, (re.sub(r" \(disc.*", "", line).rsplit(":", 1) for line in out.splitlines())))


def samples(data):
    """Samples by key of the threads that the process has started."""
    sums, by_library = collections.Counter(), collections.defaultdict(collections.Counter)
    out = run(["perf", "script", "-i", data, "-F", "pid,tid,ip,sym,symoff,dso"])
    for line in out.splitlines():
        at = re.match(r"\s*(\d+)/(\d+)\s+[0-9a-f]+ (.*?)(?:\+0x([0-9a-f]+))? \((.*)\)$", line)
        if at and at[1] != at[2]:
            by_library[at[5]][at[3], int(at[4] or "0", 16)] += 1
    for library, places in by_library.items():
        ours = library.startswith(ROOT)
        lines = lines_of(library, tuple(places)) if ours else {}
        for place, number in places.items():
            path, line = lines.get(place, ("", "0"))
            sums[key_of(os.path.normpath(path) if path else "", int(line) if line.isdigit() else 0, place[0], library)] += number
    return sums


def time_case(build, folder, case, records):
    """Nanoseconds of a record by key, of the whole, and of two clock readings."""
    program, data = os.path.join(build, "bench/bench_cost"), os.path.join(folder, "perf.data")
    times, floors, sums = [], [], collections.Counter()
    for _ in range(ROUNDS):
        of_case, floor = map(float, run([program, folder, case, str(records), "floor"]).split())
        times.append(of_case)
        floors.append(floor)
    for _ in range(SAMPLED_ROUNDS):
        run(["perf", "record", "-q", "-F", "20000", "-e", "cpu-clock", "-o", data, "--", program, folder, case, str(records)])
        sums += samples(data)
    whole, number = statistics.median(times), sum(sums.values())
    return {key: value / number * whole for key, value in sums.items()}, whole, statistics.median(floors), number


# ---- the page --------------------------------------------------------------------------------------


def table(counted, timed, pieces, whole, reading):
    counts, times = add_up(counted, pieces), add_up(timed, pieces)
    total = sum(counts.values())
    rows = [name for name in dict.fromkeys([*(name for name, _ in pieces), *times, *counts])
            if round(counts[name], 1) or round(times[name], 1)]
    rows.sort(key=lambda name: (-times[name], -counts[name]))
    text = "| piece | instructions | of all | ns | clock readings |\n| --- | ---: | ---: | ---: | ---: |\n"
    for name in rows:
        text += f"| {name} | {counts[name]:.1f} | {counts[name] / total:.0%} | {times[name]:.1f} | {times[name] / reading:.2f} |\n"
    return text + (f"| sum | {total:.1f} | 100% | {sum(times.values()):.1f} | {sum(times.values()) / reading:.2f} |\n"
                   f"| measured as a whole | | | {whole:.1f} | {whole / reading:.2f} |\n")


def write(name, text):
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    part = f"<!-- [bench/account.py {name}] -->\n"
    begin, rest = page.split(part, 1)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(begin + part + text + "<!-- [bench/account.py end] -->" + rest.split("<!-- [bench/account.py end] -->", 1)[1])


def machine():
    commit = run(["git", "-C", ROOT, "rev-parse", "--short=8", "HEAD"]).strip()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    return f"{time.strftime('%Y-%m-%d')}, commit {commit}; {model[1] if model else 'unknown processor'}, {os.cpu_count()} cores. Load at the start {os.getloadavg()[0]:.1f}."


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "-v"]
    if not arguments:
        sys.exit(__doc__)
    build, wanted = os.path.abspath(arguments[0]), arguments[1:] or list(PARTS)
    stated = machine()
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            records, pieces = PARTS[name]
            counted = count_case(build, folder, name)
            timed, whole, floor, number = time_case(build, folder, name, records)
            reading = floor / 2
            text = table(counted, timed, pieces, whole, reading)
            text += f"\nA clock reading takes {reading:.1f} ns in the same process. {number} samples. ({stated})\n"
            print(f"{name}\n{text}", flush=True)
            write(name, text)


if __name__ == "__main__":
    main()
