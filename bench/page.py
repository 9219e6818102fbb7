#!/usr/bin/env python3
"""How long the HTML report of a large trace takes, and how much memory.

usage: bench/page.py BUILD [--events MILLIONS] [--folder FOLDER] [--kinds NAME,...]

Makes three traces of that many events, on one thread with steps:
  ranges     zones four deep
  operators  operators with shapes, three deep
  pytorch    per 10 events: 5 operators with shapes, 2 allocations, 2 times freed memory, and a link from an
             operator of the forward to one of the backward

Prints the time and the highest memory of `dwell report --format html`, the file's pages included: the
median of three runs with the trace in the page cache. Not part of the tests: its figures need a quiet
machine.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

STEP = 1000  # events of a step
HEAD = ["process 1 pid=1 name=train", "thread 1 process=1 tid=1 name=main", "stream 1 thread=1"]


def put_ranges(step, put):
    put("+1us begin phase forward")
    for _ in range((STEP - 1) // 4):
        put("+500ns begin layer block\n+200ns begin zone outer\n+200ns begin zone inner\n+900ns end\n+100ns end\n+50ns end\n"
            "+100ns begin zone small\n+300ns end")
    put("+1us end")


def put_operators(step, put):
    put("+1us begin phase forward")
    for i in range((STEP - 1) // 3):
        put(f"+500ns begin operator aten::linear shapes=32x{i % 40 + 1}:float32,64x64:float32\n"
            "+200ns begin operator aten::t shapes=64x64:float32\n+200ns begin operator aten::transpose\n+400ns end\n+100ns end\n+50ns end")
    put("+1us end")


def put_pytorch(step, put):
    parts, live = STEP // 20, []
    for phase in ("forward", "backward"):
        put(f"+1us begin phase {phase}")
        for i in range(parts):
            link = f"link {step * parts + (i if phase == 'forward' else parts - 1 - i)}" + (" 1" if phase == "backward" else "")
            name = "aten::linear" if phase == "forward" else "AddmmBackward0"
            put(f"+500ns begin operator {name} shapes=32x{i % 40 + 1}:float32,64x64:float32\n{link}\n"
                "+200ns begin operator aten::t shapes=64x64:float32\n+200ns begin operator aten::transpose\n+400ns end\n+100ns end\n"
                "+100ns begin operator aten::addmm shapes=64:float32,32x64:float32,64x64:float32")
            for k in range(2):
                address = 1048576 + (len(live) * 8192 + k * 4096 if phase == "forward" else 64 << 20)
                put(f"+100ns alloc {'activation' if phase == 'forward' else 'temporary'} cpu {address} 4096")
                if phase == "forward":
                    live.append(address)
                else:
                    put(f"+100ns free temporary cpu {address}")
                    put(f"+100ns free activation cpu {live.pop()}")
            put("+300ns begin operator aten::relu\n+200ns end\n+100ns end\n+50ns end")
        put("+1us end")


KINDS = {"ranges": put_ranges, "operators": put_operators, "pytorch": put_pytorch}


def make(build, kind, events, path):
    maker = subprocess.Popen([os.path.join(build, "tests/tools/mktrace"), "-", path], stdin=subprocess.PIPE, text=True)

    def put(text):
        maker.stdin.write(text + "\n")

    put("\n".join(HEAD))
    for step in range(int(events / STEP)):
        put("+1us step-begin")
        KINDS[kind](step, put)
        put("+1us step-end")
    maker.stdin.close()
    if maker.wait():
        sys.exit("page.py: mktrace failed")


def measure(build, trace, page):
    """Seconds and MB of one report."""
    began = time.monotonic()
    process = subprocess.Popen([os.path.join(build, "dwell"), "report", "--format", "html", "-o", page, trace],
                               stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"page.py: dwell report ended with {process.returncode}")
    return time.monotonic() - began, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--events", type=float, default=10, help="millions (10)")
    parser.add_argument("--folder", help="where the traces are made; they stay there")
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds.split(","):
            trace = os.path.join(options.folder or folder, f"page-{kind}-{options.events:g}.dwell")
            if not os.path.exists(trace):
                make(options.build, kind, options.events * 1e6, trace)
            page = os.path.join(folder, "page.html")
            measure(options.build, trace, page)
            seconds, megabytes = zip(*(measure(options.build, trace, page) for _ in range(3)))
            print(f"{kind:9} {options.events:g} million events, {os.path.getsize(trace) / 1e6:4.0f} MB: "
                  f"{sorted(seconds)[1]:.2f} s, {max(megabytes):.0f} MB, page {os.path.getsize(page) / 1e6:.2f} MB", flush=True)


if __name__ == "__main__":
    main()
