#!/usr/bin/env python3
"""The page of `dwell diff --format html`, read by a program and used in headless Chromium.

usage: comparison_chromium.py BUILD

The differences of the parts sum to that of the whole, in the data and on the screen, where each bar begins at the end
of the one above it; the slowest path has the strongest red; what kept runs from being compared is named. Sorting, search,
kinds of names, widths and bars of the flame graph by mouse and by keyboard. Hostile names stay text, no page asks for
anything or is wider than its window; paper; axe, html-validate and Tab find nothing. Bad input is an error without a
file. Without Chromium only the files are checked. The last line is "N passed, N failed".
"""
import argparse
import json
import math
import os
import re
import pty
import subprocess
import sys
import tempfile

import accessible
import report_chromium as report
from browser import Browser, lack

check = report.check
NODE = 10
NEXT_CLASS = 0.035  # colours of two classes of change that follow each other are this far apart in OKLab


def steps(operators, cpu="fast", version="2.1", count=30, worker=()):
    """Steps of operators, each a name and microseconds; a worker's thread has its own."""
    text = f"process 1 pid=1 name=train\nthread 1 process=1 tid=1 name=main\nthread 2 process=1 tid=2 name=worker\nstream 1 thread=1\nmeta host.cpu \"{cpu}\"\nmeta host.cpus 4\nmeta torch.version {version}\nmeta torch.callback_ns {210 if version == '2.1' else 230}\nmeta seed 1\n"
    for i in range(count):
        text += f"{'+50us' if i else 'at 0ms'} step-begin\n+1us begin phase forward\n+0 begin layer net\n"
        text += "".join(f"begin operator \"{name}\"\n+{us + i % 3}us end\n" for name, us in operators)
        text += "+0 end\n+0 end\n+1us step-end\n"
    text += "stream 2 thread=2\n" + "".join(f"at {i * 3}ms begin zone \"{name}\"\n+{us}us end\n" for i in range(count) for name, us in worker)
    return text


COMMON = [(f"operator {i}", 100 + 10 * i) for i in range(14)]
MADE = {
    "before": [steps(COMMON + [("gone", 400)], worker=[("load", 500)], count=30 + i) for i in range(4)],
    "after": [steps(COMMON[:-1] + [("operator 13", 900), ("new", 100)], worker=[("load", 300)], count=30 + i) for i in range(4)],
    "other": [steps(COMMON, cpu=report.MARKUP, version="2.2")],
    "little": [steps(COMMON + [("gone", 394)])],
    "hostile": [report.hostile(), report.hostile().replace("+3ms", "+5ms").replace(report.MARKUP + "\"\n+1ms begin operator", "other\"\n+1ms begin operator")],
}
PAGES = {
    "slower": (["before0", "before1", "before2", "--", "after0", "after1", "after2"], 0),
    "fast": (["--by", "fast", *(f"before{i}" for i in range(4)), "--", *(f"after{i}" for i in range(4))], 0),
    "alike": (["before0", "before1", "--", "before2"], 0),
    "little": (["before0", "before1", "--", "little0"], 0),
    "refused": (["before0", "before1", "--", "other0"], 0),
    "accepted": (["--accept", "machine,versions", "before0", "before1", "--", "other0"], 0),
    "two runs": (["before0", "after0"], 0),
    "hostile": (["hostile0", "hostile1"], 0),
    "failing": (["--fail-on", "5", "before0", "before1", "before2", "--", "after0", "after1", "after2"], 3),
}


class Page:
    """What is in a file, without a browser."""

    def __init__(self, name, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        check(f"{name}: no text ends an element", text.count("</script>") == 2 and text.count("<script") == 2, text.count("</script>"))
        check(f"{name}: at most 5 MiB", os.path.getsize(path) <= report.MOST_BYTES, os.path.getsize(path))
        self.data = json.loads(text.split('id="data">', 1)[1].split("</script>", 1)[0])
        self.tables = {(table.get("part"), table.get("title")): table for table in self.data["tables"]}
        numbers, names = self.data["flame"]["nodes"], self.data["flame"]["names"]
        self.nodes = [dict(zip(("depth", "name", "category", "change", "before", "after"), [numbers[i], names[numbers[i + 1]], *numbers[i + 2:i + 6]]))
                      for i in range(0, len(numbers), NODE)]

    def rows(self, part, title=None):
        table = self.tables[part, title]
        return [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]

    def heads(self):
        return self.tables["verdict", None]["heads"]


def read(name, page):
    parts, verdict = page.rows("parts"), page.rows("verdict")[0]
    change = verdict["after_ns"] - verdict["before_ns"]
    check(f"{name}: the parts' differences sum to that of the whole", abs(sum(row["difference_ns"] for row in parts) - change) < 1, change)
    for side in ("before", "after"):
        room = {}
        wrong = []
        for node in page.nodes:
            if node["depth"]:
                room[node["depth"] - 1] -= node[side]
                if room[node["depth"] - 1] < -2 * len(page.nodes):
                    wrong.append(node)
            room[node["depth"]] = node[side]
        check(f"{name}: paths {side} are within those around them", not wrong, wrong[:2])


def read_all(pages):
    slower = pages["slower"]
    check("slower: the verdict", slower.rows("verdict")[0]["verdict"] == "slower")
    check("slower: where", slower.rows("operators")[0]["name"] == "operator 13" and abs(slower.rows("operators")[0]["difference_ns"] - 670000) < 2000, slower.rows("operators")[0])
    reddest = [node["name"] for node in slower.nodes if node["change"] == 4]
    check("slower: the slowest path has the strongest red", reddest == ["operator 13"], reddest)
    gone = [node for node in slower.nodes if node["name"] == "gone"]
    check("slower: a path that is gone is blue and there", len(gone) == 1 and gone[0]["change"] < -1 and gone[0]["after"] == 0 and abs(gone[0]["before"] - 401000) < 2000, gone)
    worker = slower.rows("zone", "names")
    check("slower: names of other threads", len(worker) == 1 and worker[0]["name"] == "load" and abs(worker[0]["self_difference_ns"] + 200000) < 20000, worker)
    check("slower: layers by their whole", abs(slower.rows("layer", "names")[0]["difference_ns"] - slower.rows("phase", "names")[0]["difference_ns"]) < 10)
    fast, verdict = pages["fast"].rows("fast"), pages["fast"].rows("verdict")[0]
    check("fast: where", (fast[0]["name"], fast[1]["name"]) == ("operator 13", "gone") and abs(fast[0]["difference_ns"] - 670000) < 2000 and fast[0]["low_ns"] > 0, fast[:2])
    check("fast: the names sum to the whole", abs(sum(row["difference_ns"] for row in fast) - verdict["fast_after_ns"] + verdict["fast_before_ns"]) < 1 and fast[-1]["name"] == "everything else", fast)
    check("slower: no fast steps, because time per step decides", ("fast", None) not in slower.tables)
    state = {row["reason"]: row for row in slower.rows("comparable")}
    check("slower: what is alike", state["machine"]["state"] == "alike" and state["machine"]["found"] == "fast, 4 CPUs", state["machine"])
    check("slower: what was not measured", state["shapes"]["state"] == "not measured", state["shapes"])
    check("slower: the environment is alike", {row["state"] for row in slower.rows("environment")} == {"alike"}, slower.rows("environment"))
    state = {row["reason"]: row for row in pages["refused"].rows("comparable")}
    check("refused: what differs", pages["refused"].rows("verdict")[0]["verdict"] == "not comparable" and state["versions"]["state"] == "differs" and
          "2.1" in state["versions"]["found"] and "2.2" in state["versions"]["found"], state)
    settings = {row["key"]: row for row in pages["refused"].rows("environment")}
    check("refused: the environment of both sides", (settings["torch.version"]["before"], settings["torch.version"]["after"], settings["torch.version"]["state"]) == ("2.1", "2.2", "differs"), settings)
    check("refused: a time that dwell measured is no setting", settings["torch.callback_ns"]["state"] == "varies from run to run", settings["torch.callback_ns"])
    state = {row["reason"]: row["state"] for row in pages["accepted"].rows("comparable")}
    check("accepted: what differs is said", state["machine"] == state["versions"] == "differs, accepted", state)
    check("alike: no difference", pages["alike"].rows("verdict")[0]["verdict"] == "no difference", pages["alike"].heads())
    check("two runs: no cause", pages["two runs"].rows("verdict")[0]["verdict"] == "two runs")


def refuse(dwell, traces, folder):
    """Bad input: status, a message, and no file."""
    target = os.path.join(folder, "never.html")
    broken, empty = os.path.join(folder, "broken.dwell"), os.path.join(folder, "empty.dwell")
    with open(traces["before0"], "rb") as file, open(broken, "wb") as to:
        to.write(b"x" * 100 + file.read()[100:])
    with open(empty, "wb"):
        pass
    for what, operands, status, message in (
            ("a damaged trace", [broken, traces["after0"]], 1, "broken.dwell"), ("an empty trace", [empty, traces["after0"]], 1, "empty.dwell"),
            ("no trace", [target + ".dwell", traces["after0"]], 1, "never"), ("one trace twice", [traces["after0"], traces["after0"]], 2, "twice"),
            ("a trace without steps", [traces["none0"], traces["after0"]], 1, "steps")):
        result = subprocess.run([dwell, "diff", "-f", "html", "-o", target, *operands], capture_output=True, text=True, check=False)
        check(f"{what} is refused without a file", result.returncode == status and message in result.stderr and not os.path.exists(target), result.returncode, result.stderr)
    result = subprocess.run([dwell, "diff", "-f", "html", "-o", os.path.join(folder, "no", "x.html"), traces["before0"], traces["after0"]], capture_output=True, text=True, check=False)
    check("a folder that is not there is named", result.returncode == 1 and os.path.join("no", "x.html") in result.stderr, result.returncode, result.stderr)
    outer, inner = pty.openpty()
    result = subprocess.run([dwell, "diff", "-f", "html", traces["before0"], traces["after0"]], stdout=inner, stderr=subprocess.PIPE, text=True, check=False)
    check("a terminal gets no page", result.returncode == 2 and "-o diff.html" in result.stderr, result.returncode, result.stderr)
    os.close(outer)
    os.close(inner)


BARS = """(() => [...document.querySelectorAll('.waterfall li')].map((li) => { const bar = li.querySelector('.up, .down').getBoundingClientRect(), up = li.querySelector('.up') !== null,
  zero = li.querySelector('.zero').getBoundingClientRect().left, track = li.querySelector('.track').getBoundingClientRect();
  return { from: (up ? bar.left : bar.right) - zero, to: (up ? bar.right : bar.left) - zero, track: track.width, inside: bar.left >= track.left - 1 && bar.right <= track.right + 2, whole: li.className === 'whole', text: li.textContent } }))()"""


def use_bars(browser, page):
    for width in (1400, 360):
        browser.size(width, 900)
        browser.settle()
        bars = browser.js(BARS)
        parts, whole = bars[:-1], bars[-1]
        apart = [bar for last, bar in zip(parts, parts[1:]) if abs(last["to"] - bar["from"]) > 2.5]
        check(f"{width} pixels: {len(parts)} bars begin where the ones above end", not apart and abs(parts[0]["from"]) < 2, apart[:2])
        check(f"{width} pixels: and end where the whole does", whole["whole"] and abs(whole["from"]) < 2 and abs(whole["to"] - parts[-1]["to"]) < 2.5, whole, parts[-1])
        check(f"{width} pixels: within the scale", all(bar["inside"] for bar in bars))
        seen = max(abs(bar["to"] - bar["from"]) for bar in bars) / bars[0]["track"]
        check(f"{width} pixels: the bars take the scale, however wide the interval is", seen > 0.3, seen)
    browser.size(1280, 900)
    said = browser.js("document.querySelector('.figures').textContent")
    check("the figures have the interval and what can be detected", "95% interval" in said and "smallest detectable change" in said and "3 before, 3 after" in said, said)
    check("the head of the page names both sides", "before0.dwell and 2 more → after0.dwell and 2 more" in browser.js("document.querySelector('.what').textContent"))


def use_tables(browser):
    table = "document.querySelector('#operators table')"
    column = f"[...{table}.tHead.rows[0].cells].findIndex((cell) => cell.textContent.startsWith('difference'))"
    values = f"[...{table}.tBodies[0].rows].map((row) => row.cells[{column}].textContent)"
    browser.js(f"{table}.tHead.rows[0].cells[{column}].firstChild.focus()")
    browser.key("Enter")
    check("Enter on a heading sorts", browser.js(values)[0].startswith("+670 us"), browser.js(values))
    browser.key("Enter")
    check("again: the fastest first", browser.js(values)[0].startswith("-401 us"), browser.js(values))
    browser.js("document.querySelector('#operators input').focus()")
    browser.text("gone")
    check("typing filters", browser.js(f"{table}.tBodies[0].rows.length") == 1)
    kinds = browser.js("[...document.querySelectorAll('#names .choice button')].map((button) => button.textContent)")
    check("kinds of names", {"Operators", "Layers", "Phases", "Named ranges"} <= set(kinds), kinds)
    browser.js(f"document.querySelectorAll('#names .choice button')[{kinds.index('Named ranges')}].focus()")
    browser.key("Enter")
    check("one is chosen by key", browser.js("document.querySelector('#names tbody').textContent").startswith("load"))


def use_flame(browser):
    said = "document.querySelector('#tree .said').textContent"
    browser.js("document.querySelector('#tree canvas').scrollIntoView({ block: 'center' })")
    browser.js("document.querySelector('#tree input').focus()")
    browser.text("operator 13")
    check("the flame graph is searched", browser.js(said).startswith("1 bar found"), browser.js(said))
    browser.js("(() => { const input = document.querySelector('#tree input'); input.value = ''; input.dispatchEvent(new Event('input')) })()")
    browser.js("document.querySelector('#tree canvas').focus()")
    for _ in range(5):
        browser.key("ArrowDown")
    told = browser.js(said)
    check("keys reach the widest operator, which tells both times", told.startswith("operator 13: 901 us after, 231 us before, +670 us; self 901 us after") and "1 calls a step after" in told, told)
    browser.key("Enter")
    browser.key("Escape")
    check("Escape shows all", "in all" in browser.js(said), browser.js(said))
    box = browser.js("(() => { const box = document.querySelector('#tree canvas').getBoundingClientRect(); return [box.x, box.y, box.width] })()")
    browser.click(box[0] + 5, box[1] + 3 * 20 + 10)
    check("a click chooses a bar", browser.js(said).startswith("net: "), browser.js(said))
    browser.js("document.querySelector('#tree .tools > button').click()")
    browser.js("document.querySelectorAll('#tree .choice button')[1].click()")
    browser.js("document.querySelector('#tree input').focus()")
    browser.text("gone")
    check("the picture of the time before has what is gone", browser.js(said).startswith("1 bar found"), browser.js(said))
    check("and a sentence says so", "only the runs before have took 401 us" in browser.js("document.querySelector('#tree').textContent"))
    legend = browser.js("[...document.querySelectorAll('#tree .legend li')].map((item) => item.textContent)")
    check("the legend has nine colours", len(legend) == 9 and any(text.endswith("to +670 us") for text in legend), legend)
    for dark in (False, True):
        browser.media("screen", dark)
        browser.settle()
        colours = browser.js("[...document.querySelectorAll('#tree .legend i')].map((i) => getComputedStyle(i).backgroundColor.match(/\\d+/g).map(Number))")
        near = [(i, k) for i, one in enumerate(colours) for k in range(i) if math.dist(report.oklab(one), report.oklab(colours[k])) < NEXT_CLASS]
        check(f"which are apart to the eye{', dark' if dark else ''}", len(colours) == 9 and not near, near, colours)
    browser.media("screen", False)


def use_paper(browser):
    browser.media("print", dark=True)
    browser.size(700, 990)
    browser.settle()
    paper = browser.js("""(() => { const shown = (text) => [...document.querySelectorAll(text)].filter((e) => e.getClientRects().length).length;
      return { light: getComputedStyle(document.body).backgroundColor, controls: shown('nav, input, select, .choice, .tools'), bars: shown('.waterfall .up, .waterfall .down'),
        wide: document.documentElement.scrollWidth - innerWidth } })()""")
    check("paper is light, has the bars and no controls", paper["light"] == "rgb(252, 252, 251)" and not paper["controls"] and paper["bars"] > 2 and paper["wide"] <= 0, paper)


def use_hostile(browser, page):
    browser.open(page, 1280, 900)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    check("hostile: all panels are there", browser.js("[...document.querySelectorAll('.panel')].map((panel) => panel.id).join()") == "parts,operators,names,tree,runs,environment")
    check("hostile: marks of direction are text", browser.js(r"/\\u202e/.test(document.body.innerText) && !/[\u202a-\u202e\u2066-\u2069]/.test(document.getElementById('page').textContent)"))


def title_of(head):
    """The sentence of a verdict without what the figures below it have."""
    return re.sub(r"^([^,(]+)[,:] [^,(:]+ before, [^,(]+ after( \(.*\))?\.$", r"\1.", head)


def see(browser, files, pages, folder):
    for name in ("slower", "refused", "accepted", "alike", "little", "two runs", "hostile"):
        report.see(browser, name, files[name], None if name in ("refused", "hostile") else title_of(pages[name].heads()[0]))
        title, said = (browser.js(f"document.querySelector('{what}').textContent") for what in ("h1", ".figures"))
        change = pages[name].rows("verdict")[0]["change"]
        text = f"{100 * change:+.{2 if abs(change) < 0.0995 else 1}f}%"
        check(f"{name}: the change with its sign, unless it is not comparable", (text in title) == (name != "refused"), text, title)
        twice = [word for word in re.findall(r"[\d.]+ [mun]?s\b", said) if word in title]
        check(f"{name}: the title repeats no figure below it", not twice, title, said)
    browser.open(files["refused"], 1280, 900)
    said = browser.js("document.querySelector('.trust').textContent")
    check("refused: the first screen says what differs", "Versions of PyTorch and Linux differ" in said and report.MARKUP in said, said)
    browser.size(360, 900)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    browser.settle()
    few = browser.js("[...document.querySelectorAll('#environment thead th')].map((e) => e.textContent)")
    check("360 pixels: the environment has what differs", few[:2] == ["what", "before and after"], few)
    browser.js("[...document.querySelectorAll('#environment .under button')].at(-1).click()")
    check("times of the environment have units", {"210 ns", "230 ns"} <= set(browser.js("[...document.querySelectorAll('#environment td')].map((e) => e.textContent)")))
    use_hostile(browser, files["hostile"])
    browser.open(files["slower"], 1400, 900)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    use_bars(browser, files["slower"])
    use_tables(browser)
    use_flame(browser)
    use_paper(browser)
    browser.open(files["fast"], 1400, 900)
    bars, said = browser.js(BARS), browser.js("document.querySelector('.waterfall').parentNode.textContent")
    check("fast: the bars are of the fast step", said.startswith("Where the difference is: fast steps from") and "sum to the whole" in said and bars[0]["text"].startswith("operator 13+670 us"), said)
    check("fast: they end where the whole does", abs(bars[-1]["to"] - bars[-2]["to"]) < 2.5 and bars[-1]["whole"], bars)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    check("fast: a panel has the intervals", browser.js("document.querySelector('#fast thead').textContent").endswith("lowhigh"), browser.js("document.querySelector('#fast thead').textContent"))
    tools = accessible.Tools()
    if not tools.node:
        print("skip: axe and html-validate (pip or npm cannot install: tools/venv page)")
        return
    written = []
    for name in ("slower", "fast", "refused", "hostile"):
        accessible.axe(check, tools, browser, name, files[name], accessible.ALL if name == "slower" else accessible.TWO)
        written += accessible.without_data(browser, name, files[name], folder)
    accessible.validate(check, tools, written, folder)
    accessible.tab(check, browser, "slower", files["slower"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    build = parser.parse_args().build
    dwell = os.path.join(build, "dwell")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        traces, files, pages = {}, {}, {}
        for name, texts in {**MADE, "none": [report.MADE["none"]]}.items():
            for i, text in enumerate(texts):
                traces[f"{name}{i}"] = os.path.join(folder, f"{name}{i}.dwell")
                subprocess.run([os.path.join(build, "tests/tools/mktrace"), "-", traces[f"{name}{i}"]], input=text, text=True, check=True)
        for name, (words, status) in PAGES.items():
            files[name] = os.path.join(folder, name.replace(" ", "-") + ".html")
            result = subprocess.run([dwell, "diff", "-f", "html", "-o", files[name], *(traces.get(word, word) for word in words)], capture_output=True, text=True, check=False)
            check(f"{name}: is written, with status {status}", result.returncode == status, result.returncode, result.stderr)
            pages[name] = Page(name, files[name])
            read(name, pages[name])
        read_all(pages)
        refuse(dwell, traces, folder)
        if lack():
            print(f"skip: the pages in a browser ({lack()})")
        else:
            browser = Browser()
            try:
                see(browser, files, pages, folder)
            finally:
                browser.close()
    print(f"{report.passes} passed, {report.failures} failed")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
