#!/usr/bin/env python3
"""The timeline of `dwell view` used with mouse and keyboard in headless Chromium.

usage: timeline_chromium.py BUILD [--shots FOLDER]

The trace's events are known. Zoom, movement, selection, sums, search, flows, folding and the textual
list are checked by what the page shows; nothing outside the server is asked for; names with markup
stay text; contrast and both colour schemes. Skipped (77) without Chromium. The last line is
"N passed, N failed".
"""
import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from browser import Browser, lack

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import unpacked  # noqa: E402

HOSTILE = '<img src=x onerror=alert(1)>'
TRACE = """
process 1 pid=1 name=train
thread 1 process=1 tid=1 name=main
thread 2 process=1 tid=2 name=other
stream 1 thread=1
at 0 begin zone start
+1ms end
at 10ms step-begin
+0 begin phase forward
+1ms begin operator conv shapes=2x3:float32
+0 args level-3
+0 flow-out work 7
+1ms end
+2ms end
+0 begin phase "<img src=x onerror=alert(1)>"
+4ms end
+2ms step-end
at 26ms async-begin request 1
at 30ms begin zone a
+2ms begin zone b
+2ms end-of 1
+4ms end
at 40ms begin zone last
+20ms end
repeat 300
+1us begin operator tiny
+1us end
done
stream 2 thread=2
at 12ms begin zone receiver
+1ms flow-in work 7
+3ms end
at 26ms counter loss 0.5 detail=nats
+500us async-begin request 2
+500us async-end request 1
+0 counter loss 0.25 detail=nats
+500us mark "half way"
+500us async-end request 2
"""
passes = failures = 0


def check(what, holds, *seen):
    global passes, failures
    print("ok  " if holds else "FAIL", what, *(seen if not holds else ()), flush=True)
    passes += bool(holds)
    failures += not holds


class Page:
    def __init__(self, browser, address, dark=False):
        self.browser = browser
        browser.open(address, 1200, 700, dark)
        self.wait("window.dwellTimeline && dwellTimeline.lastFrame !== undefined")
        self.quiet()

    def js(self, code):
        return self.browser.js(code)

    def wait(self, condition):
        return self.browser.wait(condition)

    def quiet(self):
        self.browser.settle()
        check("nothing is missing any more", self.wait("dwellTimeline.source.running === 0 && !dwellTimeline.pending"))

    def key(self, name):
        self.browser.key(name)
        self.quiet()

    def place(self, name):
        """Where the middle of an event is on the screen."""
        return self.js(f"""(() => {{ const t = dwellTimeline, box = t.canvas.getBoundingClientRect();
            for (const [id, parts] of t.parts) for (const part of parts) for (let row = 0; row < part.track.rows; row++)
              for (let i = part.track.first[row]; i < part.track.first[row + 1]; i++)
                if (t.painter.textOf(part.track, i, t.tracks.kinds.get(id) === "steps") === {name!r})
                  return [box.left + t.painter.x(t.view, (Math.max(t.view.begin, part.track.begin[i]) + Math.min(t.view.end, part.track.end[i])) / 2),
                          box.top + 24 + t.tracks.byId.get(id).rowsTop - t.scroller.scrollTop + row * 18 + 9];
            return null; }})()""")

    def pixel(self, x, y):
        return self.browser.picture({"x": x, "y": y, "width": 1, "height": 1})

    def details(self):
        return self.js("document.querySelector('.tl-event').textContent")

    def totals(self):
        self.wait("document.querySelector('.tl-totals tbody')")
        return dict(self.js("[...document.querySelectorAll('.tl-totals tbody tr')].map(r => [r.children[0].textContent, r.children[1].textContent + ' ' + r.children[2].textContent + ' of ' + r.children[3].textContent])"))

    def length(self):
        return self.js("dwellTimeline.view.end - dwellTimeline.view.begin")


def see_opening(page):
    """It opens at the slowest step, which is selected."""
    seen = page.js("[dwellTimeline.view.begin, dwellTimeline.view.end]")
    check("it opens at the slowest step", seen == [9.6e6, 20.4e6] and "step 0, the slowest" in page.details(), seen, page.details())
    legend = page.js("[...document.querySelectorAll('.tl-legend li')].map(e => e.textContent + ' ' + getComputedStyle(e.firstChild).backgroundColor)")
    check("a legend has the colours of what is in the trace", [text.split(" rgb")[0] for text in legend] == ["step", "zone, forward", "operator", "phase"] and
          len({text.split(" rgb")[1] for text in legend}) == 4, legend)
    page.js("dwellTimeline.canvas.focus()")
    page.key("Escape")
    page.key("0")


def use_mouse(page):
    see_opening(page)
    x, y = page.place("forward")
    empty = page.pixel(x, y + 200)
    check("an event is drawn", page.pixel(x + 40 if x else x, y) != empty)
    page.browser.move(x, y)
    check("what is under the pointer is named", "forward\n4.000 ms" in page.js("document.querySelector('.tl-tip').textContent"))
    page.browser.click(*page.place("conv"))
    check("a click selects an event and shows its arguments", page.wait("document.querySelector('.tl-event').textContent.includes('Input Dims')") and
          all(text in page.details() for text in ("conv", "operator", "1.000 ms", "[[2,3]]", "level-3")), page.details())
    check("its flow leads to the other thread", page.wait("dwellTimeline.flows.length === 1") and "leads to receiver in other, train [1]" in page.details(), page.details())
    page.js("document.querySelector('.tl-event button').click()")
    page.quiet()
    check("a flow can be followed", "receiver" in page.details() and "4.000 ms" in page.details() and "Back to conv" in page.details(), page.details())
    check("what it leads to is selected and seen", page.js("((s, v) => s.begin === 12e6 && s.end === 16e6 && v.begin < s.begin && v.end > s.end)(dwellTimeline.selected, dwellTimeline.view)"))
    page.key("b")
    check("and one gets back", page.js("dwellTimeline.selected.text") == "conv" and "Back" not in page.details(), page.details())
    page.js("dwellTimeline.fit()")
    page.quiet()
    box = page.js("(({left, top}) => [left, top])(dwellTimeline.canvas.getBoundingClientRect())")
    scale = page.js("dwellTimeline.painter.scale")
    page.browser.drag(box[0] + 9e6 * scale, box[1] + 10, box[0] + 25e6 * scale, box[1] + 10)
    page.quiet()
    sums = page.totals()
    check("a drag on the ruler adds up a time", sums.get("forward") == "1 3.000 ms of 4.000 ms" and sums.get("conv") == "1 1.000 ms of 1.000 ms", sums)
    check("it is measured", "16" in page.js("document.querySelector('.tl-totals p').textContent"))
    before = page.length()
    page.browser.wheel(x, y, -400)
    check("the wheel zooms in", page.wait(f"dwellTimeline.view.end - dwellTimeline.view.begin < {before} * 0.6"))
    begin = page.js("dwellTimeline.view.begin")
    page.browser.drag(box[0] + 300, box[1] + 300, box[0] + 200, box[1] + 300)
    page.quiet()
    check("a drag moves", page.js("dwellTimeline.view.begin") > begin)
    names = page.js("[...document.querySelectorAll('.tl-totals tbody th')].map(n => n.textContent)")
    check("a name with markup stays text", HOSTILE in names and page.js("document.images.length") == 0, names)


def use_keys(page):
    page.js("dwellTimeline.canvas.focus()")
    page.key("Escape")
    page.key("0")
    whole = page.length()
    page.key("w")
    check("W zooms in", page.length() < whole)
    page.key("s")
    check("S zooms out", abs(page.length() - whole) < whole * 0.2)
    page.key("0")
    page.key("ArrowRight")
    check("an arrow selects an event", page.js("dwellTimeline.selected !== null"))
    seen = set()
    for direction in ["ArrowUp"] * 3 + ["ArrowDown", "ArrowRight"] * 7:
        page.key(direction)
        seen.add(page.js("dwellTimeline.selected.text"))
    check("arrows reach events of all tracks", len(seen) > 5, seen)
    check("the selected event is announced", page.js("document.querySelector('.tl-status').textContent.startsWith(dwellTimeline.selected.text)"))
    page.key("Escape")
    page.key("0")  # a search begins where one looks
    page.key("/")
    page.browser.text("nothing of this")
    check("a search without a find says so", page.js("dwellTimeline.status.textContent") == 'no event has "nothing of this" in its name', page.js("dwellTimeline.status.textContent"))
    page.key("Control+a")
    page.browser.text("TINY")
    check("a search counts what it finds", page.js("dwellTimeline.status.textContent") == "300 events of one name", page.js("dwellTimeline.status.textContent"))
    page.key("Control+a")
    page.browser.text("CONV")
    page.key("Enter")
    check("search finds", page.wait("dwellTimeline.selected?.text === 'conv'"), page.js("dwellTimeline.status.textContent"))
    page.key("Enter")
    check("search says that there is no more", page.wait("dwellTimeline.status.textContent.startsWith('Nothing further')"))
    page.key("Escape")
    check("Escape leaves the search", page.js("document.activeElement === dwellTimeline.canvas"))
    check("and nothing stays grey", page.js("dwellTimeline.search.value === '' && dwellTimeline.hits === null"))
    page.key("m")
    check("M measures the selected event", page.totals().get("conv") == "1 1.000 ms of 1.000 ms", page.totals())
    page.key("c")
    check("C folds the thread", page.js("dwellTimeline.tracks.collapsed.size === 1"))
    page.key("c")
    page.key("Escape")
    check("Escape clears", page.js("dwellTimeline.selected === null && dwellTimeline.range === null"))
    page.js("document.activeElement.blur()")
    reached = set()
    for _ in range(16):
        page.browser.key("Tab")
        reached.add(page.js("document.activeElement.tagName + (document.activeElement.title || document.activeElement.className)"))
    check("Tab reaches the buttons, the search and the canvas", len(reached) >= 8 and "CANVAStl-canvas" in reached, reached)


def see_stale(page):
    """What is shown of the event under the pointer goes when another one may be there."""
    page.js("dwellTimeline.fit()")
    page.quiet()
    for name, change in (("a key that moves", "d"), ("a key that zooms", "w"), ("Escape", "Escape")):
        page.key("0")
        x, y = page.place("forward")
        page.browser.move(x + 1, y)
        page.browser.move(x, y)
        shown = page.js("!document.querySelector('.tl-tip').hidden")
        page.key(change)
        check(f"nothing stale after {name}", shown and page.js("document.querySelector('.tl-tip').hidden && dwellTimeline.hovered === null"))
    page.key("0")


def see_overlaps(page):
    page.js("dwellTimeline.show(28e6, 42e6)")
    page.quiet()
    a, b = page.place("a"), page.place("b")
    check("ranges that overlap have rows of their own", a and b and a[1] != b[1], a, b)
    page.js("dwellTimeline.show(59e6, 62e6)")
    page.quiet()
    check("short events are drawn", page.js("[...dwellTimeline.parts.values()].flat().some(part => part.track.begin.length > 5)"))
    page.js("dwellTimeline.fit()")
    page.quiet()


def see_beside(page):
    page.js("dwellTimeline.show(25.5e6, 28.5e6)")
    page.quiet()
    page.js("dwellTimeline.scroller.scrollTop = 1e6")
    page.quiet()
    kinds = page.js("dwellTimeline.tracks.list.map(track => track.kind).join()")
    check("asynchronous ranges and a counter have tracks", kinds == "steps,thread,thread,async,counter", kinds)
    ranges = page.js("""(() => { const t = dwellTimeline, found = [], id = t.tracks.list.find(track => track.kind === "async").id;
        for (let row = 0; row < 3; row++) for (const part of t.parts.get(id) || []) if (row < part.track.rows) for (let i = part.track.first[row]; i < part.track.first[row + 1]; i++)
          found.push(`${row} ${t.painter.textOf(part.track, i)} ${part.track.begin[i] / 1e6} ${part.track.end[i] / 1e6}`);
        return [...new Set(found)]; })()""")
    check("asynchronous ranges that overlap, over two threads, have rows of their own", ranges == ["0 request 26 27", "1 request 26.5 28"], ranges)
    check("a mark has a tick", page.js("dwellTimeline.painter.ticks.length") == 1)
    chosen = page.js("""(() => { const { labels } = dwellTimeline.painter; labels.clear(); [30, 900, 40, 40.5, 700, 41, 40.9].forEach(width => labels.add(0, 0, width, null, 0));
        return [0, 1, 3, 5, 9].map(most => { labels.choose(most); return [0, 1, 2, 3, 4, 5, 6].filter(i => labels.isChosen(i)).join(); }); })()""")
    check("the widest labels are written", chosen == ["", "1", "1,4,5", "1,2,3,4,5", "0,1,2,3,4,5,6"], chosen)
    place = page.js("""(() => { const t = dwellTimeline, box = t.canvas.getBoundingClientRect(), place = t.tracks.places.at(-1);
        return [box.left + t.painter.x(t.view, 26.4e6), box.top + 24 + place.rowsTop - t.scroller.scrollTop + 9, box.left + t.painter.x(t.view, 27.5e6)]; })()""")
    page.browser.move(place[0], place[1])
    tip = page.js("document.querySelector('.tl-tip').textContent")
    check("the value under the pointer is named", tip == "loss: 0.5 nats\nfrom 0.026000000 s for 1.000 ms", tip)
    page.browser.click(place[0], place[1])
    page.quiet()
    check("a click selects a value", "loss: 0.5 nats" in page.details() and "Holds for1.000 ms" in page.details(), page.details())
    page.js("dwellTimeline.canvas.focus()")
    page.key("ArrowRight")
    check("the next value by key", "loss: 0.25 nats" in page.details(), page.details())
    page.key("ArrowUp")
    check("from a counter to the track above it", "request" in page.details(), page.details())
    page.key("Escape")
    page.js("dwellTimeline.scroller.scrollTop = 0; dwellTimeline.fit()")
    page.quiet()


def use_file(page):
    """The same timeline from what a report's file would hold."""
    page.js("""(async () => { const { mountTimeline } = await import("/timeline/index.js"), { EmbeddedSource } = await import("/timeline/source.js");
        const data = await (await fetch("/api/timeline?bytes=1000000")).json(), box = document.createElement("div");
        document.body.append(box); window.fileTimeline = mountTimeline(box, { source: new EmbeddedSource(data) }); window.fileData = data; })()""")
    check("a file has the run, a finer level and a step", page.js("fileData.spans.map(span => span.what).join()") == "run,run, finer,slowest step",
          page.js("fileData.spans.map(span => span.what).join()"))
    check("it is drawn", page.wait("[...fileTimeline.parts.values()].flat().some(part => part.track.begin.length)"))
    check("it has the names of what is in it", page.js("fileData.names.includes('conv') && !fileData.names.includes('work')"))
    found = page.js("fileTimeline.source.find('conv', 0, true, fileTimeline.tracks.ids())")
    check("search finds in a file", found and found["begin_ns"] == 11e6 and page.js("fileData.names[%d]" % found["name"]) == "conv", found)
    check("it is as high as its tracks", page.js("((s, t) => s.clientHeight >= t.tracks.height && s.clientHeight < t.tracks.height + 60)(fileTimeline.stage, fileTimeline)"),
          page.js("[fileTimeline.stage.clientHeight, fileTimeline.tracks.height]"))
    sums = page.js("fileTimeline.source.totals(9e6, 25e6, fileTimeline.tracks.ids())")
    selfs = {page.js(f"fileData.names[{item['name']}]"): item["self_ns"] for item in sums["names"]}
    check("self times of a file", {"conv": 1e6, "forward": 3e6}.items() <= selfs.items(), selfs)
    check("sums of a file", {"conv": 1e6, "forward": 4e6}.items() <= {page.js(f"fileData.names[{item['name']}]"): item["ns"] for item in sums["names"]}.items(), sums)
    kinds = [page.js(f"fileTimeline.tracks.list.filter(track => track.kind === '{kind}').flatMap(track => fileTimeline.source.parts(track.id, 0, 1e8, 1000)).length > 0")
             for kind in ("async", "counter")]
    check("a file has asynchronous ranges and counters", kinds == [True, True], kinds)
    page.js("fileTimeline.box.remove()")


def look(page, shots, name):
    for width in (1200, 700, 400):
        page.browser.size(width, 700)
        page.quiet()
        check(f"{name}, {width} pixels wide: nothing is wider than the page", page.js("document.documentElement.scrollWidth") <= width)
        if shots:
            page.browser.shot(os.path.join(shots, f"{name}-{width}.png"))
    page.browser.size(1200, 700)
    page.wait("dwellTimeline.painter.width > 700")
    page.quiet()


def see_pytorch(page, dwell, trace):
    """A real run of PyTorch with two workers of a loader: what the page shows is what the report says."""
    def rows(view, name):
        table = subprocess.run([dwell, "report", "--view", view, "-n", "all", "--format", "csv", trace], capture_output=True, text=True, check=True)
        return {row[name]: row for row in csv.DictReader(table.stdout.splitlines())}
    page.js("dwellTimeline.canvas.focus()")
    tracks = page.js("dwellTimeline.tracks.list.map(track => track.kind).join()").split(",")
    check("PyTorch: each thread has a track", tracks.count("thread") == len(rows("threads", "thread")), tracks)
    page.key("/")
    page.browser.text("aten::convolution")
    page.key("Enter")
    check("PyTorch: search finds an operator", page.wait("(dwellTimeline.selected?.text || '').startsWith('aten::convolution')"), page.js("dwellTimeline.status.textContent"))
    page.key("Escape")
    check("PyTorch: its details name it", "operator" in page.details() and "aten::convolution" in page.details(), page.details())
    page.key("0")
    whole = page.js("dwellTimeline.source.timeline.end_ns")
    sums = {item["name"]: item for item in page.js(f"""(async () => {{ const t = dwellTimeline, sums = await t.source.totals(0, {whole}, t.tracks.ids());
        return sums.names.map(item => ({{ ...item, name: t.source.timeline.names[item.name] ?? item.name }})); }})()""")}
    operators = rows("operators", "name")
    for name in ("aten::mm", "aten::convolution_backward"):
        found = next((item for key, item in sums.items() if key == name), {})
        check(f"PyTorch: the whole run has as many {name} as the report", found.get("count") == int(operators[name]["calls"]), found, operators[name])
    page.key("ArrowRight")
    seen = set()
    for direction in ["ArrowUp"] * 10 + ["ArrowRight"] * 3 + ["ArrowDown"] * 6:
        page.key(direction)
        seen.add(page.js("dwellTimeline.selected.text"))
    check("PyTorch: arrows reach steps, phases and operators", len(seen) > 4, seen)
    page.key("Escape")


def check_requests(browser, port):
    asked = browser.requests()
    other = [url for url in asked if not url.startswith((f"http://127.0.0.1:{port}/", "data:"))]
    check("nothing but the server is asked", asked and not other, other)
    check("no errors", not browser.errors(), str(browser.errors())[:600])


def serve(build, trace):
    """The server of `dwell view`, the address that it prints, and its port."""
    server = subprocess.Popen([os.path.join(build, "dwell"), "view", "--no-browser", trace], stderr=subprocess.PIPE, text=True)
    return server, *re.search(r"(http://127\.0\.0\.1:(\d+)/\S+)", server.stderr.readline()).groups()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--shots")
    options = parser.parse_args()
    if lack():
        print("skip timeline: " + lack())
        return 77
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        trace = os.path.join(folder, "a.dwell")
        subprocess.run([os.path.join(options.build, "tests/tools/mktrace"), "-", trace], input=TRACE, text=True, check=True)
        server, address, port = serve(options.build, trace)
        browser = Browser()
        try:
            page = Page(browser, address)
            check("the token has left the address", page.js("location.href") == f"http://127.0.0.1:{port}/")
            look(page, options.shots, "light")
            use_mouse(page)
            see_stale(page)
            see_overlaps(page)
            see_beside(page)
            use_keys(page)
            use_file(page)
            check_requests(browser, port)
            dark = Page(browser, address, dark=True)
            check("the dark scheme is dark", dark.js("dwellTimeline.painter.paper") == "#15181c")
            look(dark, options.shots, "dark")
            dark.js("document.querySelector('header a').click()")
            check("the report is made and draws itself under its policy",
                  dark.wait("location.pathname === '/report' && performance.getEntriesByName('dwell-ready').length && document.querySelector('#main h2')"))
            check_requests(browser, port)
            server.kill()
            real = os.path.join(unpacked.folder(os.path.join(options.build, "dwell")), "planted/loader.dwell")
            server, address, port = serve(options.build, real)
            page = Page(browser, address)
            look(page, options.shots, "pytorch")
            see_pytorch(page, os.path.join(options.build, "dwell"), real)
            check_requests(browser, port)
        finally:
            browser.close()
            server.kill()
    print(f"{passes} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
