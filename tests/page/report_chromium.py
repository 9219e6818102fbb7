#!/usr/bin/env python3
"""The HTML report of several traces, read by a program and used in headless Chromium.

usage: report_chromium.py BUILD

The data's parts sum; hostile names stay text in every panel; empty traces, one step, no steps and
250 and 10,000 threads have pages; no page is wider than its window or asks for anything; the first sentence
is that of text, Markdown and notebooks; tables sort and filter, steps and bars are chosen, by mouse and by keyboard. On traces of scripts with a planted cause (tests/data/planted) the first sentence names it. axe and html-validate find
nothing, and Tab goes through a page of PyTorch, one of C, one of a device and one of ranks. Without Chromium only the
files are checked. The last line is "N passed, N failed".
"""
import argparse
import glob
import html
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import accessible
from browser import Browser, lack

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import unpacked  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_BYTES = 5 << 20
MARKUP = "</script><img src=x onerror=alert(1)><script>alert(1)</script>"
HEAD = "process 1 pid=1 name=train\nthread 1 process=1 tid=1 name=main\nstream 1 thread=1\n"


def step(number, name, inner="x"):
    return (f"at {number * 20}ms step-begin\n+1ms begin phase forward\n+0 begin layer \"{name}\"\n+1ms begin operator \"{name}\"\n"
            f"+{3 + number % 3}ms end\n+1ms end\n+0 end\n+0 begin zone \"{inner}\"\n+1ms end\n+1ms step-end\n")


def hostile():
    """Hostile names wherever a trace has names: also those of ranks, memory, counters, loaders, stacks, the collector."""
    names = [name.replace('"', "'") for name in (MARKUP, "a\u202eb\u2066c", "\u2028\"'`${1}", "n" * 100000)]
    text = "".join(f"process {rank} pid={rank} rank={rank - 1} world=2 name=\"{MARKUP}\"\nthread {rank} process={rank} tid={rank} name=\"{MARKUP}\"\n" for rank in (1, 2))
    text += f"device 0 number=0 name=\"{MARKUP}\" process=1\nqueue 0 device=0 stream=7 name=\"{MARKUP}\"\nevents 0 process=1\n"
    for rank in (0, 1):
        text += f"stream {rank + 1} thread={rank + 1}\nmeta \"{MARKUP}\" \"{MARKUP}\"\n"
        for i in range(12):
            text += step(i, names[i % 4], names[(i + 1) % 4])
            text += (f"begin data \"{names[i % 3]}\"\n+1ms end\nbegin operator \"{names[i % 3]}\" shapes=2x3:float32\nstack \"{names[i % 3]}\"\n"
                     f"alloc activation \"{names[i % 2]}\" {4096 + i} 64\n+1ms end\nbegin collector \"{names[i % 3]}\"\n+100us end\n"
                     f"begin event \"{names[i % 3]}\" detail=trainer\nbegin handler \"{names[i % 2]}\" detail=trainer.STARTED\n+50us end\n+10us end\nbegin function \"{names[i % 3]}\"\n+10us end\n"
                     f"mark \"{names[i % 3]}\"\ncounter \"{names[i % 3]}\" 0.5\nbegin communication \"{names[i % 3]}\"\n+{rank * 100 + 10}us end\n")
    return text + "".join(f"event kernel 0 {i * 20 + 2}ms 2ms {i + 1} name=\"{names[i % 3]}\" grid=1x1x1 block=1x1x1\n" for i in range(12))


def ranks():
    """Three ranks, of which one takes longer; all wait for it in communication."""
    text = ""
    for rank, (work, wait) in enumerate(((5, 6), (10, 1), (6, 5))):
        text += f"process {rank + 1} pid={rank + 1} rank={rank} world=3 name=train\nthread {rank + 1} process={rank + 1} tid={rank + 1} name=main\nstream {rank + 1} thread={rank + 1}\n"
        text += "".join(f"at {i * 20}ms step-begin\n+1ms begin phase forward\n+{work}ms end\n+0 begin communication all_reduce\n+{wait}ms end\n+1ms step-end\n" for i in range(20))
    return text


def many_threads(count=250):
    return ("process 1 pid=1 name=train\n" +
            "".join(f"thread {i} process=1 tid={i} name=worker{i}\n" for i in range(1, count + 1)) +
            "".join(f"stream {i} thread={i}\nat {i}us begin zone work\n+5ms end\n" for i in range(1, count + 1)))


TWINS = ("process 1 pid=4100 name=twins\nthread 1 process=1 tid=4101 name=work\nthread 2 process=1 tid=4100 name=work\nstream 1 thread=1\nat 1ms begin zone inner\n+9ms end\n"
         "stream 2 thread=2\nat 0 begin zone outer\n+20ms end\n")

# What samples of call stacks show: own files, the interpreter, libraries, the kernel, code without a name. Threads have long names.
KINDS = {"main": "own code", "PyUnicode_Split": "interpreter", "memcpy": "code of libraries", "gemm": "code of libraries", "do_read": "operating system", "[jit]": "not known"}
LIBC, PACKAGES = "/usr/lib/x86_64-linux-gnu/libc.so.6", "/srv/venv/lib/python3.11/site-packages"
SAMPLED = ("process 1 pid=500 name=train.py python\n" + "".join(f"thread {i} process=1 tid={16860 + i} name=\"{name}\"\n" for i, name in enumerate(
    ("python3 train.py worker pool for validation and test", "python3 train.py worker pool for validation and test", "a" * 90, "train.py"), 1)) + "meta-json sample.period_ns 4000000\n" +
    "".join(f"stream {i} thread={i}\nrepeat 20\n"
            f"+4ms sample 1 memcpy@{LIBC} PyUnicode_Split@/usr/lib/libpython3.11.so.1.0 tokenize@/srv/text.py:88 main@/srv/train.py:41\n"
            f"+4ms sample 1 gemm@{PACKAGES}/torch/lib/libtorch_cpu.so forward@{PACKAGES}/torch/nn/linear.py:20 main@/srv/train.py:41\n"
            f"+4ms sample 1 do_read@[kernel] read@{LIBC} load@/srv/train.py:12 main@/srv/train.py:41\n+4ms sample 1 [jit] main@/srv/train.py:41\ndone\n" for i in range(1, 5)))

# A cause that saves more if its function goes as a whole.
REST = ("process 1 pid=500 name=/srv/engine\nthread 1 process=1 tid=500 name=engine\nmeta-json sample.period_ns 1000000\nstream 1 thread=1\nrepeat 40\n+0 step-begin\n" +
        f"+1ms sample 1 memmove@{LIBC} order_of@/srv/order.c:12 main@/srv/engine.c:30\n" * 4 + "+1ms sample 1 order_of@/srv/order.c:14 main@/srv/engine.c:30\n" * 2 +
        "+1ms sample 1 sum_of@/srv/engine.c:20 main@/srv/engine.c:31\n" * 2 + "+1ms sample 1 main@/srv/engine.c:31\n" * 2 + "+0 step-end cpu=10ms delay=0\ndone\n")

MADE = {
    "empty": HEAD,
    "one": HEAD + step(0, "conv"),
    "none": HEAD + "at 1ms begin zone work\n+5ms end\n",
    "hostile": hostile(),
    "threads": many_threads(),
    "ranks": ranks(),
    "twins": TWINS,
    "sampled": SAMPLED,
    "rest": REST,
}
PLANTED = {"loader": "loader workers cannot keep up", "lock": "The program waits"}
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


def said_first(dwell, trace, form):
    """The first sentence of the overview with a label that tells what is wrong, without blanks and marks; None: it has none."""
    text = subprocess.run([dwell, "report", "--view", "overview", "--format", form, trace], capture_output=True, text=True, check=True).stdout
    text = html.unescape(re.sub(r"<p>(?:<b>([A-Z]+)</b> )?|<[^>]*>", lambda tag: "\n" + (tag[1] or "") + "   ", text)) if form == "html" else text.replace("\\", "")
    found = re.search(r"^\W*(?:STOP|RISK|SLOW|WORK|ALSO)\b\W+(.*(?:\n {7}.*)*)", text, re.M)
    return found and bare(found[1])


def bare(sentence):
    """Without blanks, at which text breaks its lines, and without the panel, to which a page has a link."""
    return re.sub(r"\((?:dwellreport--view|see)[^)]*\)|\s", "", re.sub(r"\s", "", sentence))


def see(browser, name, page, verdict):
    for width, dark in ((1280, False), (800, False), (360, True)):
        browser.open(page, width, 900, dark)
        browser.js("dispatchEvent(new Event('beforeprint'))")
        browser.settle()
        over = browser.js("document.documentElement.scrollWidth - innerWidth")
        check(f"{name}: no wider than {width} pixels", over <= 0, over <= 0 or browser.js(
            "[...document.querySelectorAll('#page *')].filter((e) => e.getBoundingClientRect().right > innerWidth && !e.closest('.scroll,.timeline,.sheet'))"
            ".slice(0, 9).map((e) => `${e.tagName}.${e.getAttribute('class')} in ${e.closest('section')?.id}: ${e.textContent.slice(0, 60)}`).join(' | ')"))
        cut = browser.js("[...document.querySelectorAll('.parts .label')].filter((e) => { const [word, number] = e.children, box = e.getBoundingClientRect(), at = number.getBoundingClientRect();"
                         " return e.clientWidth && at.width && at.top < box.bottom - 2 && (at.right > box.right || word.scrollWidth > word.clientWidth) }).map((e) => e.textContent)")
        check(f"{name}: no label is cut within a number, {width} pixels", not cut, cut)
        see_bars(browser, name, width)
        see_tables(browser, name, width)
        see_lines(browser, name, width)
        see_rows(browser, name, width)
        see_threads(browser, name, width)
    ready = browser.js("performance.getEntriesByName('dwell-ready')[0].startTime")
    print(f"{name}: there after {ready:.0f} ms")
    check(f"{name}: there without a wait", ready < 20000, ready)  # some 100 ms, on any machine not a hundred times as much
    check(f"{name}: no errors", not browser.errors(), str(browser.errors())[:500])
    check(f"{name}: asks for nothing", all(url.startswith(("file:", "data:")) for url in browser.requests()), browser.requests())
    check(f"{name}: names are text", browser.js("document.querySelectorAll('#page img, #page script, #page iframe').length") == 0)
    empty = browser.js("[...document.querySelectorAll('.panel')].filter((panel) => panel.children.length < 3).map((panel) => panel.id).join()")
    check(f"{name}: each panel shows something", not empty, empty)
    title = browser.js("document.querySelector('h1').textContent")
    check(f"{name}: a first sentence", len(title) > 10 and (not verdict or bare(title) == bare(verdict)), title, verdict)
    said = browser.js("document.getElementById('summary').parentNode.textContent")
    check(f"{name}: the first screen has the cause", PLANTED.get(name, "") in said, said[:500])


def see_tables(browser, name, width):
    """No column of a table is cut, and no bar is under its number; ids are no numbers of things."""
    cut = browser.js("[...document.querySelectorAll('.scroll')].filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1).map((e) => `${e.ariaLabel}: ${e.scrollWidth} of ${e.clientWidth}`)")
    check(f"{name}: no table is cut, {width} pixels", not cut, cut)
    under = browser.js("""[...document.querySelectorAll('td.bar')].filter((e) => { const text = document.createRange(), box = e.getBoundingClientRect(), style = getComputedStyle(e);
      text.selectNodeContents(e);
      return box.width && box.left + parseFloat(style.backgroundPositionX) + parseFloat(e.style.getPropertyValue('--bar')) * (box.width - 6 * parseFloat(style.fontSize)) > text.getBoundingClientRect().left - 2 }).map((e) => e.textContent)""")
    check(f"{name}: no bar is under its number, {width} pixels", not under, under[:5])
    ids = browser.js("""[...document.querySelectorAll('table')].flatMap((table) => [...table.tHead.rows[0].cells].flatMap((head, i) =>
      /^(pid|tid|step)$/.test(head.textContent) ? [...table.tBodies[0].rows].map((row) => row.cells[i].textContent).filter((text) => text.includes(',')) : []))""")
    check(f"{name}: numbers of processes, threads and steps have no comma", not ids, ids[:5])


LEAST_APART, LEAST_CONTRAST = 0.05, 4.5  # in OKLab, where 0.02 is just seen; of a label to its part
# The parts of each bar and chart: their name, the paint, its pixel and that of the text.
BARS = """(() => { const draw = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
  const pixel = (paint) => { draw.fillStyle = paint; draw.fillRect(0, 0, 1, 1); return [...draw.getImageData(0, 0, 1, 1).data].slice(0, 3) };
  const of = (e, style) => { const stripes = /gradient/.test(style.backgroundImage), paint = e.tagName === 'path' ? style.fill : stripes ? style.backgroundImage : style.backgroundColor;
    return { name: e.textContent, paint, stripes, pixel: pixel(stripes ? 'white' : paint), ink: pixel(style.color) } };
  return [...document.querySelectorAll('.parts, .plot svg')].map((bar) => [...bar.querySelectorAll(':scope > span, path[d]:not([d=""]):not([class])')].map((e) => of(e, getComputedStyle(e)))) })()"""


def oklab(pixel):
    r, g, b = linear(pixel)
    l, m, s = ((x * r + y * g + z * b) ** (1 / 3) for x, y, z in ((.41222147, .53633254, .05144599), (.21190350, .68069955, .10739696), (.08830246, .28171884, .62997870)))
    return .21045426 * l + .79361779 * m - .00407205 * s, 1.97799850 * l - 2.42859221 * m + .45059371 * s, .02590404 * l + .78277177 * m - .80867577 * s


def linear(pixel):
    return [x / 12.92 if x <= .04045 else ((x + .055) / 1.055) ** 2.4 for x in (value / 255 for value in pixel)]


def contrast(one, other):
    less, more = sorted(.2126 * r + .7152 * g + .0722 * b for r, g, b in (linear(one), linear(other)))
    return (more + .05) / (less + .05)


def read_words():
    """Each word that dwell has for a part of a bar is explained, and those of steps and devices are in the table of colours."""
    texts = {}
    for name, path in {"words": "web/src/words.js", "hues": "web/src/timeline/hues.js", "shares": "src/model/core/share_names.h", "device": "src/model/device/times.h", "states": "src/analysis/account/account.h"}.items():
        with open(os.path.join(HERE, "../..", path), encoding="utf-8") as file:
            texts[name] = file.read()
    lists = {name: re.findall(r'\bX\([A-Z_]+, "([^"]+)"\)', texts[name].partition(f"#define {macro}(X)")[2].partition("\n\n")[0])
             for name, macro in (("shares", "DW_SHARES"), ("device", "DW_DEVICE_PARTS"), ("states", "DW_ACCOUNT_STATES"))}
    for name, words in lists.items():
        lacks = [word for word in words if f'"{word}": "' not in texts["words"]] + [word for word in words if name != "states" and f'"{word}"' not in texts["hues"]]
        check(f"the {len(words)} words of {name} are explained and have colours", len(words) > 5 and not lacks, lacks, words)


def see_palette(browser, page):
    """A page has 22 colours for parts: each hue, and its darker shade. All are apart to the eye."""
    for dark in (False, True):
        browser.open(page, 1280, 900, dark)
        pixels = browser.js("""(() => { const box = document.body.appendChild(document.createElement('i')), draw = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
          return Array.from({ length: 22 }, (_, i) => { box.style.background = i < 11 ? `var(--c${i})` : `color-mix(in oklab,var(--c${i - 11}) var(--shade),#000)`;
            draw.fillStyle = getComputedStyle(box).backgroundColor; draw.fillRect(0, 0, 1, 1); return [...draw.getImageData(0, 0, 1, 1).data].slice(0, 3) }) })()""")
        near = [(i, k) for i in range(22) for k in range(i) if math.dist(oklab(pixels[i]), oklab(pixels[k])) < LEAST_APART]
        check(f"22 colours of parts are apart to the eye{', dark' if dark else ''}", len({tuple(pixel) for pixel in pixels}) == 22 and not near, near, pixels)


def see_bars(browser, name, width):
    """No two parts of a bar or a chart have one colour, neighbours are apart to the eye, and labels can be read."""
    bars = browser.js(BARS)
    word = {part["name"]: re.sub(r"^(start-up|end): |[\d.]+%$", "", part["name"]) for bar in bars for part in bar}  # before and after the steps a word has one colour
    alike = [(one["name"], other["name"]) for bar in bars for i, one in enumerate(bar) for other in bar[:i]
             if one["paint"] == other["paint"] and not (word[one["name"]] and word[one["name"]] == word[other["name"]])]
    near = [(one["name"], other["name"]) for bar in bars for one, other in zip(bar, bar[1:])
            if not one["stripes"] and not other["stripes"] and math.dist(oklab(one["pixel"]), oklab(other["pixel"])) < LEAST_APART]
    dim = [part["name"] for bar in bars for part in bar if part["name"] and not part["stripes"] and contrast(part["pixel"], part["ink"]) < LEAST_CONTRAST]
    check(f"{name}: no two parts of {len(bars)} bars and charts have one colour, {width} pixels", not alike, alike[:5])
    check(f"{name}: neighbours in a bar are apart to the eye, {width} pixels", not near, near[:5])
    check(f"{name}: labels of parts can be read, {width} pixels", not dim, dim[:5])


def see_lines(browser, name, width):
    """No number of a legend and no word of a table is broken into lines, and no sum's row is empty."""
    legend = browser.js("[...document.querySelectorAll('.legend b, .legend li > span')].filter((e) => e.getClientRects().length > 1).map((e) => e.textContent)")
    check(f"{name}: no number of a legend is broken, {width} pixels", not legend, legend[:5])
    broken = browser.js("""[...document.querySelectorAll('th bdi, td.text bdi')].flatMap((cell) => { const words = [];
      for (const node of cell.childNodes) for (const match of node.nodeType === 3 ? node.data.matchAll(/(?<![A-Za-z0-9\\\\])[A-Za-z0-9]{2,12}(?![A-Za-z0-9])/g) : []) {
        const at = document.createRange();
        at.setStart(node, match.index);
        at.setEnd(node, match.index + match[0].length);
        if (new Set([...at.getClientRects()].map((box) => Math.round(box.top))).size > 1) words.push(`${match[0]} in ${cell.textContent}`);
      }
      return words })""")
    check(f"{name}: no word of a table is broken, {width} pixels", not broken, broken[:5])
    empty = browser.js("[...document.querySelectorAll('tfoot tr')].filter((row) => row.cells.length > 1 && ![...row.cells].slice(1).some((cell) => cell.textContent)).map((row) => row.closest('.panel')?.id)")
    check(f"{name}: no row of sums is empty, {width} pixels", not empty, empty)


def see_rows(browser, name, width):
    """Where columns are left out, rows can still be told apart as well as with all of them."""
    poor = browser.js("""(() => { const kinds = (table) => new Set([...table.tBodies[0].rows].map((row) => [...row.cells].filter((cell) => cell.matches('th, .text')).map((cell) => cell.textContent).join('|'))).size, poor = [];
      for (const box of document.querySelectorAll('.table')) {
        const table = box.querySelector('table'), button = [...box.querySelectorAll('.under button')].find((e) => e.textContent.endsWith('columns')), few = kinds(table);
        if (!button || table.querySelector('[style*=padding-left]')) continue;
        button.click();
        if (kinds(table) > few) poor.push(`${table.ariaLabel}: ${few} of ${kinds(table)} kinds of ${table.tBodies[0].rows.length} rows`);
      }
      return poor })()""")
    check(f"{name}: rows can be told apart, {width} pixels", not poor, poor)


def see_threads(browser, name, width):
    """A thread's name has at most two lines, and its title is the whole name."""
    long = browser.js("""[...document.querySelectorAll('bdi.thread')].filter((e) => e.clientHeight > 2.5 * parseFloat(getComputedStyle(e).lineHeight)).map((e) => e.textContent)""")
    check(f"{name}: names of threads have at most two lines, {width} pixels", not long, long[:5])
    cut = browser.js("""[...document.querySelectorAll('bdi.thread')].filter((e) => e.textContent !== e.title && !(e.textContent.includes('…') && e.textContent.split('…').every((part, i) =>
      i ? e.title.endsWith(part.trim().split('…').at(-1)) || e.title.includes(part.trim()) : e.title.startsWith(part)))).map((e) => `${e.textContent} of ${e.title}`)""")
    check(f"{name}: what is left out of a thread's name is its middle, {width} pixels", not cut, cut[:5])
    if name == "sampled":
        shown = browser.js("[...document.querySelectorAll('#threads bdi.thread')].map((e) => [e.textContent, e.title])")
        check(f"{name}: long names of threads are shortened in the middle where there is no space, {width} pixels",
              len(shown) == 5 and (width > 360 or any("…" in text and text.startswith("python3") and text.endswith("[16861]") for text, _ in shown)) and
              all(text.endswith(title[-7:]) for text, title in shown), shown)


def see_kinds(browser, page):
    """Functions of samples have the colours of what they are, in the flame graph as in the timeline, with a legend."""
    browser.open(page, 1280, 900)
    browser.js("dispatchEvent(new Event('beforeprint'));document.querySelector('#timeline').scrollIntoView()")
    data = json.loads(browser.js("document.getElementById('data').textContent"))
    flame, timeline = next(each for each in data["flames"] if each["of"] == "samples"), data["timeline"]
    of = dict(zip(flame["names"], (flame["kinds"][kind] for kind in flame["kind"])))
    check("functions of samples are told apart", {name: of.get(name) for name in KINDS} == KINDS, of)
    of = dict(zip(timeline["names"], (timeline["kind_names"][kind] for kind in timeline["kinds"])))
    check("in the timeline, too", all(of.get(name, kind) == kind for name, kind in KINDS.items()) and len(set(of.values()) & set(KINDS.values())) > 2, of)
    browser.js("[...document.querySelectorAll('#tree .choice button')].find((e) => e.textContent.includes('samples'))?.click()")
    legend = dict(browser.js("[...document.querySelectorAll('#tree .legend li')].flatMap((e) => e.textContent.split(', ').map((word) => [word, getComputedStyle(e.querySelector('i')).backgroundColor]))"))
    check("and have a legend of colours that differ", set(KINDS.values()) <= set(legend) and len({legend[word] for word in KINDS.values()}) == 5, legend)
    browser.wait("document.querySelector('.tl-legend li')")
    other = dict(browser.js("[...document.querySelectorAll('.tl-legend li')].flatMap((e) => e.textContent.split(', ').map((word) => [word, getComputedStyle(e.querySelector('i')).backgroundColor]))"))
    both = set(KINDS.values()) & set(other)
    check("flame graph and timeline have one colour for each", len(both) > 2 and all(legend[word] == other[word] for word in both), legend, other)


def see_rest(browser, page):
    """A saving with a condition is said once, with its condition; so is each share."""
    browser.open(page, 1280, 900)
    item = browser.js("document.querySelector('.try li').textContent")
    check("a saving and its condition are said once", item.count("if the rest of order_of goes, too") == 1 and " ms, 60%, if the rest of order_of goes, too." in item and
          item.count("at most") == 1, item)
    first = browser.js("[...document.querySelectorAll('h1, .try, .parts, .legend')].map((e) => e.textContent).join(' ')")
    check("a share has one rounding on the first screen", "40%" in first and "40.1%" not in first and "40.0%" not in first, first)


def see_columns(browser, page):
    """Where columns are left out the key columns stay, and a button shows all."""
    browser.open(page, 360, 900)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    browser.settle()
    heads = "[...document.querySelectorAll('#operators thead th')].map((e) => e.textContent.replace('▼', ''))"
    few = browser.js(heads)
    browser.js("[...document.querySelectorAll('#operators .under button')].at(-1).click()")
    every = browser.js(heads)
    check("360 pixels: the key columns stay", few[:3] == ["operator", "self/step", "of the loop"], few)
    check("a button shows all columns", len(every) > len(few) and "p99" in every, every)
    browser.open(page, 800, 900)
    browser.js("dispatchEvent(new Event('beforeprint'));document.querySelector('#timeline').scrollIntoView()")
    browser.wait("document.querySelector('.tl-details')")
    browser.settle()
    height = browser.js("document.querySelector('.tl-details').clientHeight")
    check("800 pixels: what is selected in the timeline is below it", height > 100, height)


def see_first(browser, pages):
    """The first screen: each number once, and no two that contradict each other."""
    for name in ("loader", "samples", "ranks"):
        browser.open(pages[name], 1400, 900)
        browser.js("dispatchEvent(new Event('beforeprint'))")
        twice = browser.js("[...document.querySelectorAll('.try li')].map((e) => e.textContent).filter((text) => text.split('at most').length > 2)")
        check(f"{name}: what can be saved is said once", not twice, twice)
        start = browser.js("(/Start-up takes [^(]*\\(([^)]*)\\)/.exec(document.body.innerText) || [])[1]")
        check(f"{name}: the time of start-up is said once", (start is not None) == (name == "loader") and (
            not start or browser.js(f"[...document.getElementById('summary').parentNode.children].filter((e) => !e.matches('.panel, :has(.panel)')).map((e) => e.textContent).join().split('{start}').length") == 2), start)
        said = browser.js("/Slowest: step (\\d+)/.exec(document.querySelector('#all-steps')?.parentNode.textContent)?.[1]")
        first = browser.js("document.querySelector('.slowest button')?.textContent.split(' ')[0]")
        check(f"{name}: the slowest step is one", name == "ranks" or said is None or said == first, said, first)
        browser.js("document.querySelector('.slowest button')?.click()")
        took = browser.js("/took ([\\d.]+ \\w+)/.exec(document.querySelector('.steps .details')?.textContent)?.[1]")
        button = browser.js("document.querySelector('.slowest button span')?.textContent.trim()")
        table = browser.js("(() => { const bar = document.querySelector('#steps td.bar'); return bar?.textContent })()")
        check(f"{name}: it took one time, by button, text and table", took == button and (name == "ranks" or button == table), took, button, table)
    check("ranks: a mean is called so", browser.js("document.querySelector('#parts').textContent").endswith(", mean of 3 processes, by part"), browser.js("document.querySelector('#parts').textContent"))
    check("ranks: the evidence is the panel of ranks", browser.js("document.querySelector('.try a').hash") == "#ranks")
    browser.open(pages["twins"], 1400, 900)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    tracks = browser.js("JSON.parse(document.getElementById('data').textContent).timeline.tracks.map((track) => track.name)")
    check("threads of one name have their numbers, the main thread first", tracks == ["work [4100]", "work [4101]"], tracks)
    check("a page without steps has no word of them at its timeline", "step" not in browser.js("document.querySelector('#timeline .look').textContent"))


def see_beginnings(browser, build, folder):
    """Text, Markdown, a notebook's HTML and the page begin with one sentence, on the golden traces."""
    dwell, trace, page = os.path.join(build, "dwell"), os.path.join(folder, "golden.dwell"), os.path.join(folder, "golden.html")
    compared = 0
    for source in sorted(glob.glob(os.path.join(HERE, "../golden/views/*.txt"))):
        made = subprocess.run([os.path.join(build, "tests/tools/mktrace"), source, trace], capture_output=True).returncode == 0
        if not made or subprocess.run([dwell, "report", "--format", "html", "-o", page, trace], capture_output=True).returncode:
            continue
        said = {form: said_first(dwell, trace, form) for form in ("text", "md", "html")}
        browser.open(page, 1400, 900)
        title = bare(browser.js("document.querySelector('h1').textContent"))
        compared += said["text"] is not None
        # Text shows a sentence without a label as a line of the one before.
        same = all(text is not None and text.startswith(title) for text in said.values()) or set(said.values()) == {None}
        if not same:
            check(f"{os.path.basename(source)}: one first sentence", False, said, title)
    check("all golden traces begin with one sentence everywhere", compared > 20, compared)


def see_panels(browser, page):
    """Every panel is on a page whose names are all hostile."""
    browser.open(page, 1280, 900)
    there = set(browser.js("[...document.querySelectorAll('.panel')].map((panel) => panel.id)"))
    wanted = set("verdict timeline steps phases operators layers tree functions actions events sequence dataloader memory threads gc device kernels streams ranks facts environment".split())
    check("hostile: every panel is there", wanted <= there, wanted - there)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    check("hostile: marks of direction are text", browser.js(r"/\\u202e/.test(document.body.innerText) && !/[\u202a-\u202e\u2066-\u2069]/.test(document.getElementById('page').textContent)"))


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
    check("the timeline is drawn when it is seen", browser.wait("document.querySelector('#timeline canvas')"))
    check("it can be turned", browser.js("document.querySelectorAll('#tree .choice button')[1].ariaPressed") == "true")


def use_more(browser, page):
    """A page of PyTorch with workers: an outlier, groups, rules, search, one thread, paper."""
    browser.open(page, 1280, 900, True)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    most = browser.js("""(() => { const data = JSON.parse(document.getElementById('data').textContent).steps, width = 7 + data.parts.length; let at = 0;
      for (let i = 0; i < data.steps.length; i += width) if (data.steps[i + 3] > data.steps[at + 3]) at = i;
      return { index: at / width, number: data.steps[at + 1], why: data.why[data.steps[at + 5]] ?? null } })()""")
    browser.js("document.querySelector('.steps .plot').scrollIntoView({ block: 'center' })")
    browser.js("[...document.querySelectorAll('.slowest button')].at(-1).click()")
    box = browser.js(f"""(() => {{ const plot = document.querySelector('.steps .plot'), box = plot.getBoundingClientRect(), count = +plot.getAttribute('aria-valuemax') + 1;
      return [box.x + 58 + (box.width - 58) * ({most["index"]} + 0.5) / count, box.y + box.height / 2] }})()""")
    browser.click(*box)
    said = browser.js("document.querySelector('.steps .details').textContent")
    check("a click on the slowest step says what took longer", said.startswith(f"Step {most['number']} took") and (not most["why"] or most["why"] in said), said[:200], most)
    browser.js("document.querySelector('.steps .details button').click()")
    check("and shows it in the timeline", browser.wait("document.activeElement.closest('#timeline') !== null"))
    groups = browser.js("[...document.querySelectorAll('#verdict .choice button')].map((button) => button.textContent)")
    browser.js("document.querySelectorAll('#verdict .choice button')[2].click()")
    check("rules that were not measured say what is missing", "what is missing" in browser.js("document.querySelector('#verdict thead').textContent"), groups)
    browser.js("document.querySelector('#tree input').focus()")
    browser.text("convolution")
    check("the flame graph is searched", "found" in browser.js("document.querySelector('#tree .said').textContent"))
    before = browser.js("document.querySelector('#tree canvas').toDataURL().length")
    browser.js("(() => { const list = document.querySelector('#tree select'); list.value = '1'; list.dispatchEvent(new Event('change')) })()")
    check("it shows one thread", browser.js("document.querySelector('#tree canvas').toDataURL().length") != before)
    browser.media("print", dark=True)
    browser.size(700, 990)
    browser.settle()
    paper = browser.js("""(() => { const shown = (text) => [...document.querySelectorAll(text)].filter((e) => e.getClientRects().length).length;
      return { light: getComputedStyle(document.body).backgroundColor, controls: shown('nav, input, select, .choice, .tools, #timeline'),
        cut: [...document.querySelectorAll('.panel table')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.ariaLabel) } })()""")
    check("paper is light, without controls, and cuts no table", paper["light"] == "rgb(252, 252, 251)" and not paper["controls"] and not paper["cut"], paper)


def see_colours(browser, page):
    """A part has one colour in the bar, in the flame graph and in the timeline; its word is explained."""
    browser.open(page, 1280, 900)
    browser.js("dispatchEvent(new Event('beforeprint'));document.querySelector('#timeline').scrollIntoView()")
    browser.wait("document.querySelector('.tl-legend li')")
    of = browser.js("""(() => { const box = (list) => Object.fromEntries([...document.querySelectorAll(list)].flatMap((e) => (e.querySelector('b') ? e.querySelector('bdi') : e).textContent.split(', ').map((word) => [word, getComputedStyle(e.querySelector('i')).backgroundColor])));
      return [box('section[aria-labelledby=parts] .legend li'), box('#tree .legend li'), box('.tl-legend li')] })()""")
    words = {"data", "forward", "backward", "optimizer"}
    check("a part has the same colour in bar, flame graph and timeline", all(words <= set(one) for one in of) and all(len({one[word] for one in of}) == 1 for word in words), of)
    check("words are explained where the pointer rests", browser.js("document.querySelector('section[aria-labelledby=parts] .legend li').title") == "The loop waits for its next batch, or makes it.")
    glossary = set(browser.js("[...document.querySelectorAll('#words dt')].map((e) => e.textContent)"))
    check("and in a glossary", words | {"self", "self/step", "p99"} <= glossary, glossary)
    cut = browser.js("""[...document.querySelectorAll('#operators, #verdict, #layers, #dataloader, #actions')].filter((panel) => { const box = panel.querySelector('.scroll').getBoundingClientRect();
      return [...panel.querySelectorAll('thead th')].slice(0, 3).some((e) => e.getBoundingClientRect().right > box.right) }).map((panel) => panel.id)""")
    check("the key columns come first and are not cut", not cut and browser.js("document.querySelector('#operators thead tr').children[1].textContent.startsWith('self/step')"), cut)


def see_samples(browser, page):
    """What samples of call stacks show is on the page: functions, and their flame graph beside that of ranges."""
    browser.open(page, 1280, 900)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    seen = browser.js("['#hot tbody tr'].map((list) => document.querySelectorAll(list).length)")
    flames = browser.js("[...document.querySelectorAll('#tree .choice')].map((e) => e.textContent)")
    check("functions by CPU time, and their flame graph", seen[0] and "CPU time, by samples" in flames[0], seen, flames)


def see_ranks(browser, page):
    browser.open(page, 1280, 900)
    check("the steps of the slow rank are shown first", browser.js("document.querySelector('.steps select').selectedOptions[0].textContent").startswith("rank 1"))
    check("steps of several ranks are called so", browser.js("document.querySelector('.figures dt').textContent") == "steps of 3 ranks")
    check("sums of ranks are called so", "sums of 3 ranks" in browser.js("document.querySelector('#phases .look').textContent"))
    browser.js("dispatchEvent(new Event('beforeprint'))")
    rows = browser.js("[...document.querySelector('#ranks tbody').rows].map((row) => [...row.cells].map((cell) => cell.textContent))")
    check("the straggler is the first of the ranks", len(rows) == 3 and rows[0][0].startswith("rank 1") and rows[0][1] == "100.0%", rows)
    check("it takes 4 ms more than the median rank", rows and rows[0][2] == "4.00 ms", rows)
    check("what dwell ranks says is below", browser.js("document.querySelector('#ranks').textContent.includes('Rank 1 is slow: it works')"))
    check("a cell for each rank and step", browser.js("document.querySelectorAll('#ranks svg rect').length") == 60)


def see_accessible(browser, pages, folder):
    tools = accessible.Tools()
    if not tools.node:
        print("skip: axe and html-validate (pip or npm cannot install: tools/venv page)")
        return
    written = []
    for name, page in pages.items():
        accessible.axe(check, tools, browser, name, page, accessible.ALL if name == "loader" else accessible.TWO)
        written += accessible.without_data(browser, name, page, folder)
    accessible.validate(check, tools, written, folder)
    accessible.tab(check, browser, "loader", pages["loader"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    options = parser.parse_args()
    dwell = os.path.join(options.build, "dwell")
    data = unpacked.folder(dwell)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        traces = {"rich": os.path.join(data, "1.0-rich.dwell"), "device": os.path.join(data, "1.0-device.dwell")}
        for name, text in MADE.items():
            traces[name] = os.path.join(folder, name + ".dwell")
            subprocess.run([os.path.join(options.build, "tests/tools/mktrace"), "-", traces[name]], input=text, text=True, check=True)
        traces["samples"] = os.path.join(folder, "samples.dwell")
        subprocess.run([os.path.join(options.build, "tests/tools/mktrace"), os.path.join(HERE, "../golden/views/samples.txt"), traces["samples"]], check=True)
        for name in PLANTED:
            traces[name] = os.path.join(data, "planted", name + ".dwell")
        traces["10,000 threads"] = os.path.join(folder, "threads.json")
        with open(traces["10,000 threads"], "w", encoding="utf-8") as file:
            file.write(json.dumps({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "work", "pid": 1, "tid": i, "ts": i, "dur": 50} for i in range(1, 10001)]}))
        pages = {}
        for name, trace in traces.items():
            page = os.path.join(folder, name + ".html")
            result = subprocess.run([dwell, "report", "--format", "html", "-o", page, trace], capture_output=True, text=True)
            check(f"{name}: is written", result.returncode == 0, result.stderr)
            if result.returncode == 0:
                pages[name] = page
                read_data(name, page)
        read_words()
        if lack():
            print(f"skip: the pages in a browser ({lack()})")
        else:
            browser = Browser()
            try:
                for name, page in pages.items():
                    see(browser, name, page, said_first(dwell, traces[name], "text"))
                see_palette(browser, pages["rich"])
                use(browser, pages["rich"])
                use_more(browser, pages["loader"])
                see_panels(browser, pages["hostile"])
                see_colours(browser, pages["loader"])
                see_samples(browser, pages["samples"])
                see_ranks(browser, pages["ranks"])
                see_columns(browser, pages["loader"])
                see_kinds(browser, pages["sampled"])
                see_rest(browser, pages["rest"])
                see_first(browser, pages)
                see_beginnings(browser, options.build, folder)
                see_accessible(browser, {name: pages[name] for name in ("loader", "lock", "device", "ranks", "hostile")}, folder)
            finally:
                browser.close()
    print(f"{passes} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
