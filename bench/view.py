#!/usr/bin/env python3
"""How fast `dwell view` is: a large trace, and frames while it is panned in headless Chromium.

usage: bench/view.py BUILD [--ranges MILLIONS] [--threads N] [--pans N] [--folder FOLDER]

Makes a trace of that many ranges (12 bytes each). Prints how long the server takes until it answers and
until it has read all, its memory at most, and the work of the page's main thread for each frame while
the mouse drags the timeline N times over 1,040 pixels, at three zooms: median, 99th percentile, most,
from the tasks that Chromium's DevTools protocol traces, by the clock and by the time on a CPU. Zoomed in, each drag goes on to what has not
been shown before. Not part of the tests: its figures need a quiet machine.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "page"))
from browser import Browser, lack  # noqa: E402

CATEGORIES = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]


def trace_text(ranges, threads):
    """Steps of 1,000 ranges five deep, of about 1 us each."""
    lines = ["process 1 pid=1 name=train"] + [f"thread {i} process=1 tid={i} name=thread-{i}" for i in range(1, threads + 1)]
    for i in range(1, threads + 1):
        lines += [f"stream {i} thread={i}", f"at {i}us begin zone run", f"repeat {max(1, ranges // threads // 1000)}"]
        lines += ["+0 step-begin"] if i == 1 else []
        lines += ["begin phase forward", "repeat 249", "+500ns begin layer block", "+200ns begin operator conv", "+200ns begin operator kernel",
                  "+900ns end", "+100ns end", "+50ns end", "+100ns begin operator add", "+300ns end", "done", "+1us end"]
        lines += ["+1us step-end"] if i == 1 else []
        lines += ["done", "+1us end"]
    return "\n".join(lines) + "\n"


def memory(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        values = dict(line.split(":\t") for line in file.read().splitlines() if ":\t" in line)
    return {name: int(values[name].split()[0]) // 1024 for name in ("VmHWM", "RssAnon", "RssFile")}


class Client:
    def __init__(self, address):
        self.base = address.split("?")[0]
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        opener.open(address).read()
        self.opener = opener

    def get(self, path):
        return json.load(self.opener.open(self.base + "api/" + path))


def serve(build, trace):
    began = time.monotonic()
    server = subprocess.Popen([os.path.join(build, "dwell"), "view", "--no-browser", trace], stderr=subprocess.PIPE, text=True)
    address = re.search(r"http://\S+", server.stderr.readline()).group(0)
    client = Client(address)
    live = client.get("live")
    client.get("timeline")
    client.get(f"span?begin=0&end={live['end_ns']}&pixels=1500")
    ready = time.monotonic() - began
    while not client.get("live")["complete"]:
        time.sleep(0.05)
    complete = time.monotonic() - began
    slowest, end = 0, live["end_ns"]
    for i in range(60):
        length = end / 4 ** (i % 12 + 1)
        at, asked = (i * 0.37 % 1) * (end - length), time.monotonic()
        client.get(f"span?begin={int(at)}&end={int(at + length) + 1}&pixels=512")
        slowest = max(slowest, time.monotonic() - asked)
    print(f"ready after {ready:.2f} s; all read after {complete:.2f} s; slowest of 60 spans {slowest * 1000:.0f} ms; MB: {memory(server.pid)}")
    return server, address


def frames(events):
    """Milliseconds of the main thread's tasks by frame, and how many of them it had a CPU."""
    events = [event for event in events if "ts" in event]
    threads = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name" and e["args"]["name"] == "CrRendererMain"}
    begins = [e for e in events if e["name"] in ("BeginMainThreadFrame", "FireAnimationFrame")]
    thread = max(threads, key=lambda t: sum((e["pid"], e["tid"]) == t for e in begins))
    # Two categories trace each task, one inside the other: one of them counts.
    name = next(name for name in ("RunTask", "ThreadControllerImpl::RunTask") if any(e["name"] == name for e in events))
    tasks = sorted((e["ts"], e.get("dur", 0), e.get("tdur", 0)) for e in events if (e["pid"], e["tid"]) == thread and e["name"] == name)
    marks = sorted(e["ts"] for e in begins if (e["pid"], e["tid"]) == thread and e["name"] == "FireAnimationFrame")
    sums, at = [], 0  # the work for a frame begins after the one before and ends with the task that draws it
    for start, end in zip(marks, marks[1:]):
        while at < len(tasks) and tasks[at][0] + tasks[at][1] <= start:
            at += 1
        first = at
        while at < len(tasks) and tasks[at][0] < end:
            at += 1
        wall, cpu = [sum(task[i] for task in tasks[first:at]) / 1000 for i in (1, 2)]
        sums.append([wall, min(wall, cpu)])  # the thread's own clock advances in larger steps
    return [sorted(values) for values in zip(*sums)] if sums else [[0], [0]]


def spread(times):
    return f"median {times[len(times) // 2]:.1f} ms, 99% {times[int(len(times) * 0.99)]:.1f} ms, most {times[-1]:.1f} ms"


def drag(browser, back):
    """One drag of the mouse over 1,040 pixels, at 750 pixels a second or as fast as Chromium takes it."""
    places = range(1100, 59, -12) if not back else range(60, 1101, 12)
    mouse = browser.page.mouse
    mouse.move(places[0], 700)
    mouse.down()
    for x in places[1:]:
        mouse.move(x, 700)
        time.sleep(0.004)
    mouse.up()


def pan(address, pans):
    browser = Browser()
    browser.open("about:blank", 1500, 900)
    began = time.monotonic()
    browser.page.goto(address, wait_until="commit")
    browser.wait("window.dwellTimeline && dwellTimeline.source.tiles.size > 0 && !dwellTimeline.source.running")
    print(f"interactive in Chromium after {time.monotonic() - began:.2f} s")
    for what, length in (("the whole run", 1), ("a hundredth", 0.01), ("a hundred-thousandth", 1e-5)):
        browser.js(f"(() => {{ const t = dwellTimeline, e = t.source.timeline.end_ns, l = e * {length}; t.show((e - l) / 2, (e + l) / 2); }})()")
        time.sleep(1)
        # Notes the slowest drawing in the page: to ask for each would itself be work of the main thread.
        browser.js("(() => { let last = 0; window.slowest = 0; Object.defineProperty(dwellTimeline, 'lastFrame', "
                   "{ configurable: true, get: () => last, set: ms => { last = ms; slowest = Math.max(slowest, ms); } }); })()")
        browser.chromium.start_tracing(categories=CATEGORIES)
        for i in range(pans):
            drag(browser, length == 1 and i % 2)
        wall, cpu = frames(json.loads(browser.chromium.stop_tracing())["traceEvents"])
        print(f"panning {what}: {len(wall)} frames; main thread a frame: {spread(wall)}, {sum(t > 8 for t in wall)} above 8 ms; "
              f"on a CPU: {spread(cpu)}; drawing at most {browser.js('slowest'):.1f} ms")
    browser.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--ranges", type=float, default=10)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--pans", type=int, default=3)
    parser.add_argument("--folder", help="where the trace is made; it stays there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        trace = os.path.join(options.folder or folder, f"view-{options.ranges:g}.dwell")
        if not os.path.exists(trace):
            subprocess.run([os.path.join(options.build, "tests/tools/mktrace"), "-", trace], text=True, check=True,
                           input=trace_text(int(options.ranges * 1e6), options.threads))
        print(f"{os.path.getsize(trace) / 1e6:.0f} MB, {options.ranges:g} million ranges, {options.threads} threads")
        server, address = serve(options.build, trace)
        try:
            if options.pans and lack():
                print("no frames: " + lack())
            elif options.pans:
                pan(address, options.pans)
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
