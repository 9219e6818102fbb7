"""A curve (dwell export --format memory) clicked and typed through in headless Chromium.

pictures_chromium.py calls check_curve() for pictures of that kind: it opens without an
error and asks for nothing in light and dark, wide and narrow; what the pointer says is
what the points say; dragging, the buttons and the keyboard zoom and reset; contrast of text
is 4.5 and more; it stands in <img>, and within a page whose policy allows its script.
"""
import base64
import hashlib
import os
import re

STATE = """(()=>{const q=s=>document.querySelector('.dwp '+s),b=e=>{const r=e.getBoundingClientRect();
return{left:r.left,right:r.right,top:r.top,bottom:r.bottom}};
return {said:q('.said').textContent,box:q('.plot').getAttribute('viewBox').split(' ').map(Number),
 ground:b(q('.ground')),peak:q('.peak').getAttribute('display')!=='none',peakBox:b(q('.peak path')),
 peakText:b(q('.peak text')),cursor:q('.cursor').getAttribute('d'),drag:q('.drag').getAttribute('width'),
 ticks:[...document.querySelectorAll('.dwp .axis text')].map(t=>[t.textContent,b(t).left,b(t).right]),
 points:q('.panel').dataset.points.split(';').map(p=>p.split(',').map(Number)),
 from:+q('.axis').dataset.from,to:+q('.axis').dataset.to,
 marks:q('.mark-data').dataset.marks.split(';').map(p=>p.split(',').map(Number)),
 peakNs:+q('.peak').dataset.ns,
 buttons:Object.fromEntries([...document.querySelectorAll('.dwp .button')].map(g=>
  [g.getAttribute('aria-label'),b(g)]))}})()"""

CONTRAST = """(()=>{const rgb=s=>s.match(/[\\d.]+/g).map(Number),
L=c=>{const[r,g,b]=c.map(v=>(v/=255)<=.03928?v/12.92:((v+.055)/1.055)**2.4);return .2126*r+.7152*g+.0722*b},
K=(a,b)=>{a=L(a);b=L(b);return(Math.max(a,b)+.05)/(Math.min(a,b)+.05)};let least=99;
const of=q=>rgb(getComputedStyle(document.querySelector('.dwp '+q)).fill);
for(const t of document.querySelectorAll('.dwp text')){if(!t.textContent)continue;
 const g=t.closest('.button')?of('.button rect'):t.closest('.panel')?of('.ground'):of('.paper');
 least=Math.min(least,K(rgb(getComputedStyle(t).fill).slice(0,3),g.slice(0,3)))}return least})()"""

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def middle(box):
    return (box["left"] + box["right"]) / 2, (box["top"] + box["bottom"]) / 2


def last(points, at):
    """The last point at or before a time, or None."""
    return max((p for p in points if p[0] <= at), key=lambda p: p[0], default=None)


def said_bytes(text):
    """The sum that the line of words says: "1.2 s, step 3 — 150 MiB: ..."."""
    found = re.search("\u2014 ([0-9.]+) (\\w+)", text)
    return float(found.group(1)) * UNITS[found.group(2)] if found else None


def near(a, b):
    return abs(a - b) <= 0.006 * max(a, b) + 1


def check_open(check, browser, path, shots):
    for width, height, dark in ((1200, 700, False), (1200, 700, True), (600, 500, False)):
        where = f"curve {width} {'dark' if dark else 'light'}"
        browser.open(path, width, height, dark)
        check(f"{where}: no errors", not browser.errors(), browser.errors())
        check(f"{where}: nothing asked for", len(browser.requests()) == 1, browser.requests())
        least = browser.js(CONTRAST)
        check(f"{where}: contrast {least:.2f} is 4.5 at least", least >= 4.5)
        state = browser.js(STATE)
        ground = state["ground"]
        check(f"{where}: the plot follows the window", width - 28 < ground["right"] < width - 8, ground)
        check(f"{where}: the peak's words lie in the window",
              state["peakText"]["left"] >= 0 and state["peakText"]["right"] <= width, state["peakText"])
        lap = [a[0] for a, b in zip(state["ticks"], state["ticks"][1:]) if a[2] > b[1]]
        check(f"{where}: times do not overlap", len(state["ticks"]) > 1 and not lap, lap)
        check(f"{where}: times differ", len({t[0] for t in state["ticks"]}) == len(state["ticks"]))
        largest = max(state["points"], key=lambda p: sum(p[1:]))
        check(f"{where}: the peak is the largest point", largest[0] == state["peakNs"], largest)
        browser.shot(shots and f"{shots}-{width}-{'dark' if dark else 'light'}.png")


def check_pointer(check, browser, path, shots):
    browser.open(path, 1200, 700)
    state = browser.js(STATE)
    ground, span = state["ground"], state["to"] - state["from"]
    wide = ground["right"] - ground["left"]
    for part in (0.1, 0.37, 0.5, 0.93):
        x = round(ground["left"] + part * wide)
        at = state["from"] + (x - ground["left"]) / wide * span
        browser.move(x, middle(ground)[1])
        said, point = browser.js(STATE)["said"], last(state["points"], at)
        if point:
            check(f"the pointer says the sum at {part}", near(said_bytes(said) or -1, sum(point[1:])),
                  said, sum(point[1:]))
        mark = last(state["marks"], at)
        if mark:
            check(f"the pointer says the step at {part}",
                  (f"step {mark[1]} " in said) == (at < mark[2]), said, mark)
    browser.shot(shots and f"{shots}-hover.png")


def check_zoom(check, browser, path, shots):
    browser.open(path, 1200, 700)
    whole = browser.js(STATE)
    ground = whole["ground"]
    wide = ground["right"] - ground["left"]
    y = middle(ground)[1]
    browser.drag(ground["left"] + wide * 0.25, y, ground["left"] + wide * 0.5, y)
    state = browser.js(STATE)
    check("dragging zooms to what was dragged over",
          abs(state["box"][0] - 250000) < 2000 and abs(state["box"][2] - 250000) < 2000, state["box"])
    check("the drag's rectangle is gone", float(state["drag"]) == 0, state["drag"])
    browser.shot(shots and f"{shots}-zoomed.png")
    inside = 0 <= (whole["peakNs"] - whole["from"]) / (whole["to"] - whole["from"]) - 0.25 <= 0.25
    check("the peak is shown where it is", state["peak"] == inside)
    browser.click(*middle(state["buttons"]["Reset"]))
    check("Reset shows all", browser.js(STATE)["box"] == whole["box"])
    browser.click(*middle(state["buttons"]["In"]))
    check("In shows half", abs(browser.js(STATE)["box"][2] - 500000) < 10, browser.js(STATE)["box"])
    browser.click(*middle(state["buttons"]["Out"]))
    check("Out shows all again", browser.js(STATE)["box"] == whole["box"])
    browser.click(*middle(state["buttons"]["Peak"]))
    state = browser.js(STATE)
    largest = max(whole["points"], key=lambda p: sum(p[1:]))
    check("Peak says the peak", near(said_bytes(state["said"]) or -1, sum(largest[1:])), state["said"])


def check_keyboard(check, browser, path):
    browser.open(path, 1200, 700)
    whole = browser.js(STATE)
    marks, points = whole["marks"], whole["points"]
    browser.js("document.documentElement.focus()")
    browser.key("Home")
    browser.key("PageDown")
    check("Page down goes to the first step", f"step {marks[0][1]} " in browser.js(STATE)["said"],
          browser.js(STATE)["said"])
    browser.key("PageDown")
    browser.key("Enter")
    state = browser.js(STATE)
    span, end = whole["to"] - whole["from"], marks[1][2]
    check("Enter zooms to the step",
          abs(state["box"][0] - (marks[1][0] - whole["from"]) / span * 1e6) < 2 and
          abs(state["box"][2] - (end - marks[1][0]) / span * 1e6) < 20, state["box"])
    browser.key("Escape")
    check("Escape shows all", browser.js(STATE)["box"] == whole["box"])
    browser.key("p")
    browser.key("ArrowRight")
    after = [p for p in points if p[0] > whole["peakNs"]]
    if after:
        said = browser.js(STATE)["said"]
        check("right goes to the next point", near(said_bytes(said) or -1, sum(after[0][1:])), said)
        browser.key("ArrowLeft")
        said = browser.js(STATE)["said"]
        check("left goes back", near(said_bytes(said) or -1, sum(last(points, whole["peakNs"])[1:])), said)
    browser.key("+")
    check("+ zooms in", browser.js(STATE)["box"][2] < 600000, browser.js(STATE)["box"])
    browser.key("-")
    check("- zooms out", browser.js(STATE)["box"] == whole["box"], browser.js(STATE)["box"])


def check_places(check, browser, path, folder):
    with open(path, encoding="utf-8") as file:
        svg = file.read()
    script = re.search(r"<script><!\[CDATA\[(.*?)\]\]></script>", svg, re.S).group(1)
    check("the script is under 8 KB", len(script) < 8192, len(script))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = os.path.join(folder, "curve.html")
    with open(page, "w", encoding="utf-8") as file:
        file.write("<!doctype html><meta charset=utf-8><meta http-equiv=Content-Security-Policy content=\""
                   f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'\">"
                   + svg[svg.index("<svg"):])
    browser.open(page, 1200, 700)
    check("under a policy: no errors", not browser.errors(), browser.errors())
    check("under a policy: it runs", browser.js("document.querySelector('.dwp').classList.contains('on')"))
    plain = os.path.join(folder, "curve_img.html")
    with open(plain, "w", encoding="utf-8") as file:
        file.write(f"<!doctype html><img src='file://{os.path.abspath(path)}'>")
    browser.open(plain, 1300, 900)
    check("in <img>: its own size", browser.js("document.images[0].naturalWidth") == 1200)


def check_curve(check, browser, path, shots, folder):
    check_open(check, browser, path, shots)
    check_pointer(check, browser, path, shots)
    check_zoom(check, browser, path, shots)
    check_keyboard(check, browser, path)
    check_places(check, browser, path, folder)
