#!/usr/bin/env python3
"""The HTML report of several traces, read by a program and used in headless Chromium.

usage: report_chromium.py BUILD

The data's parts sum; hostile names stay text in every panel; empty traces, one step, no steps and
250 and 10,000 threads have pages; no page is wider than its window or asks for anything; the first sentence
is the verdict's; tables sort and filter, steps and bars are chosen, by mouse and by keyboard. Without
Chromium only the files are checked. The last line is "N passed, N failed".
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "probes"))
from pictures_chromium import Browser  # noqa: E402

DATA = os.path.join(HERE, "..", "data")
MOST_BYTES = 5 << 20
MARKUP = "</script><img src=x onerror=alert(1)><script>alert(1)</script>"
HEAD = "process 1 pid=1 name=train\nthread 1 process=1 tid=1 name=main\nstream 1 thread=1\n"


def step(number, name, inner="x"):
    return (f"at {number * 20}ms step-begin\n+1ms begin phase forward\n+0 begin layer \"{name}\"\n+1ms begin operator \"{name}\"\n"
            f"+{3 + number % 3}ms end\n+1ms end\n+0 end\n+0 begin zone \"{inner}\"\n+1ms end\n+1ms step-end\n")


def hostile():
    names = [MARKUP, "a\u202eb\u2066c", "\u2028\"'`${1}", "n" * 100000]
    return HEAD + "".join(step(i, names[i % 4].replace('"', "'"), names[(i + 1) % 4].replace('"', "'")) for i in range(12))


def many_threads(count=250):
    return ("process 1 pid=1 name=train\n" +
            "".join(f"thread {i} process=1 tid={i} name=worker{i}\n" for i in range(1, count + 1)) +
            "".join(f"stream {i} thread={i}\nat {i}us begin zone work\n+5ms end\n" for i in range(1, count + 1)))


MADE = {
    "empty": HEAD,
    "one": HEAD + step(0, "conv"),
    "none": HEAD + "at 1ms begin zone work\n+5ms end\n",
    "hostile": hostile(),
    "threads": many_threads(),
}
passes = failures = 0


def check(what, holds, *seen):
    global passes, failures
    print("ok  " if holds else "FAIL", what, *(seen if not holds else ()), flush=True)
    passes += bool(holds)
    failures += not holds


def read_data(name, page):
    """The data of a page, after checks that need no browser."""
    text = open(page, encoding="utf-8").read()
    check(f"{name}: at most 5 MiB", os.path.getsize(page) <= MOST_BYTES, os.path.getsize(page))
    check(f"{name}: no text ends an element", text.count("</script>") == 2 and text.count("<script") == 2, text.count("</script>"))
    data = json.loads(text.split('id="data">', 1)[1].split("</script>", 1)[0])
    steps = data["steps"]
    if steps:
        width = 7 + len(steps["parts"])
        rows = [steps["steps"][i:i + width] for i in range(0, len(steps["steps"]), width)]
        wrong = [row for row in rows if row[4] == 0 and sum(row[7:]) != row[3]]
        check(f"{name}: the parts of each of {len(rows)} steps sum to it", not wrong, wrong[:1])
    return data


def first_sentence(dwell, trace):
    result = subprocess.run([dwell, "report", "--view", "verdict", "--format", "json", trace], capture_output=True, text=True)
    rows = json.loads(result.stdout)["views"][0] if result.returncode == 0 else {"rows": []}
    if not rows["rows"]:
        return None
    return rows["rows"][0][[column["name"] for column in rows["columns"]].index("statement")]


def see(browser, name, page, verdict):
    for width, dark in ((1280, False), (800, False), (390, True)):
        browser.open(page, width, 900, dark)
        browser.js("dispatchEvent(new Event('beforeprint'))")
        browser.settle()
        over = browser.js("document.documentElement.scrollWidth - innerWidth")
        check(f"{name}: no wider than {width} pixels", over <= 0, over <= 0 or browser.js(
            "[...document.querySelectorAll('#page *')].filter((e) => e.getBoundingClientRect().right > innerWidth && !e.closest('.scroll,.timeline,.sheet'))"
            ".slice(0, 9).map((e) => `${e.tagName}.${e.getAttribute('class')} in ${e.closest('section')?.id}: ${e.textContent.slice(0, 60)}`).join(' | ')"))
    ready = browser.js("performance.getEntriesByName('dwell-ready')[0].startTime")
    check(f"{name}: there within a second", ready < 1000, ready)
    wrong = [event for event in browser.events if event.get("method") in ("Runtime.exceptionThrown", "Page.javascriptDialogOpening") or
             (event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error")]
    check(f"{name}: no errors", not wrong, str(wrong)[:500])
    asked = [event["params"]["request"]["url"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"]
    check(f"{name}: asks for nothing", all(url.startswith(("file:", "data:")) for url in asked), asked)
    check(f"{name}: names are text", browser.js("document.querySelectorAll('#page img, #page script, #page iframe').length") == 0)
    empty = browser.js("[...document.querySelectorAll('.panel')].filter((panel) => panel.children.length < 3).map((panel) => panel.id).join()")
    check(f"{name}: each panel shows something", not empty, empty)
    title = browser.js("document.querySelector('h1').textContent")
    check(f"{name}: a first sentence", len(title) > 10 and (not verdict or verdict[:40] in title), title)


def use(browser, page):
    browser.open(page, 1280, 900)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    table = "document.querySelector('#operators table')"
    first = f"{table}.tBodies[0].rows[0].cells[0].textContent"
    before = browser.js(first)
    browser.js(f"{table}.tHead.rows[0].cells[0].firstChild.focus()")
    browser.key("Enter")
    check("Enter on a heading sorts", browser.js(f"{table}.tHead.rows[0].cells[0].getAttribute('aria-sort')") == "ascending")
    check("the heading keeps the focus", browser.js(f"document.activeElement.closest('table') === {table}"))
    browser.key("Enter")
    check("again sorts the other way", browser.js(f"{table}.tHead.rows[0].cells[0].getAttribute('aria-sort')") == "descending", before)
    rows = browser.js("document.querySelectorAll('#facts tbody tr').length")
    browser.js("document.querySelector('#facts input').focus()")
    browser.text("run.wall")
    check("typing filters", 0 < browser.js("document.querySelectorAll('#facts tbody tr').length") < rows)
    browser.js("document.querySelector('.steps .plot').focus()")
    for key, wanted in (("Home", 0), ("ArrowRight", 1), ("ArrowLeft", 0)):
        browser.key(key)
        check(f"{key} chooses a step", browser.js("+document.querySelector('.steps .plot').ariaValueNow") == wanted)
    check("and says it", browser.js("document.querySelector('.steps .details').textContent").startswith("Step "))
    browser.js("document.querySelector('#tree canvas').focus()")
    whole = browser.js("document.querySelector('#tree .said').textContent")
    browser.key("ArrowDown")
    browser.key("Enter")
    check("keys walk the flame graph", browser.js("document.querySelector('#tree .said').textContent") != whole, whole)
    browser.key("Escape")
    check("Escape shows all", "in all" in browser.js("document.querySelector('#tree .said').textContent"))
    browser.js("document.querySelectorAll('#tree .choice button')[1].click()")
    browser.js("document.querySelector('#timeline').scrollIntoView()")
    browser.settle()
    browser.settle()
    check("the timeline is drawn when it is seen", browser.js("Boolean(document.querySelector('#timeline canvas'))"))
    check("it can be turned", browser.js("document.querySelectorAll('#tree .choice button')[1].ariaPressed") == "true")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    options = parser.parse_args()
    dwell = os.path.join(options.build, "dwell")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        traces = {"rich": os.path.join(DATA, "1.0-rich.dwell"), "device": os.path.join(DATA, "1.0-device.dwell")}
        for name, text in MADE.items():
            traces[name] = os.path.join(folder, name + ".dwell")
            subprocess.run([os.path.join(options.build, "tests/tools/mktrace"), "-", traces[name]], input=text, text=True, check=True)
        traces["10,000 threads"] = os.path.join(folder, "threads.json")
        with open(traces["10,000 threads"], "w", encoding="utf-8") as file:
            json.dump({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "work", "pid": 1, "tid": i, "ts": i, "dur": 50} for i in range(1, 10001)]}, file)
        pages = {}
        for name, trace in traces.items():
            page = os.path.join(folder, name + ".html")
            result = subprocess.run([dwell, "report", "--format", "html", "-o", page, trace], capture_output=True, text=True)
            check(f"{name}: is written", result.returncode == 0, result.stderr)
            if result.returncode == 0:
                pages[name] = page
                read_data(name, page)
        if not chromium:
            print("skip: the pages in a browser (Chromium is not installed)")
        else:
            browser = Browser(chromium, os.path.join(folder, "profile"))
            try:
                for name, page in pages.items():
                    see(browser, name, page, first_sentence(dwell, traces[name]))
                use(browser, pages["rich"])
            finally:
                browser.process.kill()
    print(f"{passes} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
