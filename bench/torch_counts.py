#!/usr/bin/python3
"""How many instructions recording adds to a small operator of PyTorch, in dwell and in torch.profiler, counted by Valgrind.

usage: torch_counts.py BUILD [--python PYTHON] [--keep] [WAY...]

A loop of `x.add_(1)`, five operators an iteration, is counted by callgrind in one process for each way: bare, and recorded by both,
plain, with shapes and with memory. Instructions do not depend on other programs, as times do; readings of the clock wait, which they
do not show. Of dwell's a second table has what they are for, by the file of the source. --keep puts both tables into
doc/measured/account.md. A way takes a minute or two on a quiet machine.

Exit status 0; 77: no PyTorch or no Valgrind here.
"""
import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile

WARM, ITERATIONS, OPERATORS = 200, 1000, 5
ACCOUNT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../doc/measured/account.md")
MARKS = ("<!-- [bench/torch_counts.py] -->", "<!-- [bench/torch_counts.py end] -->")
# torch.profiler's options, or those of dwell run
WAYS = {
    "bare": None,
    "torch.profiler, plain": {}, "torch.profiler, shapes": {"record_shapes": True}, "torch.profiler, memory": {"profile_memory": True},
    "dwell, plain": ["--no-memory"], "dwell, shapes": ["--no-memory", "--shapes"], "dwell, memory": [],
}
OWN = re.compile(r"/(probes|src/recorder|src/base|include/dwell)/")
# what instructions of a source file of dwell are for; of operators.c by function
PIECES = (("probe_abi.h", "records: the mask, the clock, the words"), ("probe.h", "records: the mask, the clock, the words"),
          ("record/", "records: the mask, the clock, the words"), ("name_of", "the operator's name: read in PyTorch's object, compared"),
          ("operators.c", "the callbacks: which operators of the thread are open"),
          ("abi/inline.h", "the callbacks: which operators of the thread are open"),
          ("places", "the line of the script"), ("shapes.c", "sizes and types of inputs"), ("inputs", "sizes and types of inputs"),
          ("arguments", "sizes and types of inputs"), ("memory.c", "the allocator's calls"), ("held_blocks", "the allocator's calls"))


def measure(way, iterations):
    """In the process that is counted."""
    import torch
    torch.set_num_threads(1)
    x = torch.ones(1)

    def loop(count):
        for _ in range(count):
            x.add_(1)

    def counted(state):
        subprocess.run(["callgrind_control", "-i", state, str(os.getpid())], stdout=subprocess.DEVNULL, check=True)

    profiler = None
    if way.startswith("torch.profiler"):
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **WAYS[way])
        profiler.start()
    loop(WARM)
    counted("on")
    loop(iterations)
    counted("off")
    if profiler:
        profiler.stop()


def count(options, way):
    """Instructions of an operator: all, and those of dwell by source file and function."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--dump-line=yes", f"--callgrind-out-file={out}",
                   options.python, os.path.abspath(__file__), "--measure", way, options.build]
        if way.startswith("dwell"):
            command = [os.path.join(options.build, "dwell"), "run", "-o", os.path.join(folder, "of.dwell"), "--sample", "off",
                       "--cost", "full", *WAYS[way], "--", *command]
        env = dict(os.environ, OMP_NUM_THREADS="1", PYTHONHASHSEED="0")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        if done.returncode:
            sys.exit(f"{way}: {done.stderr[-800:]}")
        lines = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no", out], stdout=subprocess.PIPE,
                               text=True, check=True).stdout.splitlines()
    found = [re.match(r"\s*([\d,]+)\s+(\S+?):(.*)", line) for line in lines]
    rows = [(int(row[1].replace(",", "")), row[2], row[3]) for row in found if row]
    own = {}
    for instructions, file, function in rows:
        if OWN.search(file):
            place = f"{OWN.split(file)[-1]}:{function.split(' [')[0]}"
            own[place] = own.get(place, 0) + instructions
    per = ITERATIONS * OPERATORS
    return sum(row[0] for row in rows) / per, {place: value / per for place, value in own.items()}


def split(own):
    pieces = {}
    for place, value in own.items():
        piece = next((text for part, text in PIECES if part in place), "others")
        pieces[piece] = pieces.get(piece, 0) + value
    return pieces


def row(name, values, form="{:,.0f}"):
    return f"| {name} | " + " | ".join(form.format(value) for value in values) + " |"


def tables(totals, owns, version):
    bare = totals["bare"]
    lines = ["| instructions an operator | plain | with shapes | with memory |", "| --- | ---: | ---: | ---: |"]
    kinds = ("plain", "shapes", "memory")
    added = {tool: [totals.get(f"{tool}, {kind}", bare) - bare for kind in kinds] for tool in ("torch.profiler", "dwell")}
    for tool, values in added.items():
        lines.append(row(f"{tool} adds", values))
    parts = [split(owns.get(f"dwell, {kind}", {})) for kind in kinds]
    for piece in sorted({piece for part in parts for piece in part}, key=lambda piece: -max(part.get(piece, 0) for part in parts)):
        lines.append(row(piece, [part.get(piece, 0) for part in parts]))
    inside = [sum(part.values()) for part in parts]
    lines.append(row("dwell's own", inside))
    shares = [own / peer if peer else 0 for own, peer in zip(inside, added["torch.profiler"])]
    lines.append(row("dwell's own, of what torch.profiler adds", shares, "{:.1%}"))
    lines.append(row("in PyTorch and libc, for any callback", [whole - own for whole, own in zip(added["dwell"], inside)]))
    lines += ["", f"`x.add_(1)`, which takes {bare:,.0f} an operator bare; PyTorch {version}, {datetime.date.today()}, by "
              "`bench/torch_counts.py`."]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("ways", nargs="*")
    options = parser.parse_intermixed_args()
    options.build = os.path.abspath(options.build)
    if options.measure:
        return measure(options.measure, ITERATIONS)
    version = subprocess.run([options.python, "-c", "import torch; print(torch.__version__)"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True).stdout.strip()
    if not version or not shutil.which("callgrind_control"):
        print("skip torch_counts: no PyTorch, or no Valgrind")
        return 77
    totals, owns = {}, {}
    for way in options.ways or WAYS:
        totals[way], owns[way] = count(options, way)
        print(f"{way}: {totals[way]:,.0f} instructions an operator", flush=True)
        for place, value in sorted(owns[way].items(), key=lambda item: -item[1])[:20]:
            print(f"    {value:7.1f} {place}", flush=True)
    if "bare" not in totals:
        return 0
    lines = tables(totals, owns, version)
    print("\n".join(lines))
    if options.keep:
        with open(ACCOUNT, encoding="utf-8") as file:
            text = file.read()
        head, tail = text.index(MARKS[0]) + len(MARKS[0]), text.index(MARKS[1])
        with open(ACCOUNT, "w", encoding="utf-8") as file:
            file.write(text[:head] + "\n" + "\n".join(lines) + "\n" + text[tail:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
