#!/usr/bin/env python3
"""A picture clicked and typed through in headless Chromium.

usage: pictures_chromium.py [--shots FOLDER] PICTURE.svg...

Curves are checked by curve_chromium.py. For each other picture: it opens without an error and asks for nothing; text lies in its bar and
bars lie in one another at 1200, 700 and 400 pixels; contrast of text is 4.5 and more in
light and dark; click, Reset, Backspace and Escape zoom; search finds what a loop over the
tooltips finds; the keyboard alone reaches everything; it stands in <img>, and within a page
whose policy allows this one script by its hash. With --shots, PNGs of all that.
Skipped (77) without Chromium. The last line is "N passed, N failed".
"""
import argparse
import base64
import hashlib
import os
import re
import sys
import tempfile

from curve_chromium import check_curve

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "page"))
from browser import Browser, lack  # noqa: E402

# What the page is asked; nodes are plain objects, in the file's order.
STATE = """(()=>{const q=s=>document.querySelector('.dwp '+s);
const nodes=[...document.querySelectorAll('.dwp .frames g')].map((g,i)=>{
 const r=g.querySelector('rect'),t=g.querySelector('text'),T=g.querySelector('title').textContent.split('\\n');
 const b=r.getBoundingClientRect(),tb=t&&t.getBoundingClientRect();
 return {i,name:T[0],rest:T[1],shown:g.getAttribute('display')!=='none',hit:g.classList.contains('hit'),
  over:g.classList.contains('over'),x:parseFloat(r.getAttribute('x')),w:parseFloat(r.getAttribute('width')),
  y:+r.getAttribute('y'),left:b.left,right:b.right,top:b.top,bottom:b.bottom,
  text:t&&t.textContent,tleft:tb&&tb.left,tright:tb&&tb.right,role:g.getAttribute('role'),tab:g.getAttribute('tabindex')}});
const a=document.activeElement,ring=q('.ring');
return {nodes,found:q('.found').textContent,said:q('.said').textContent,
 focus:a&&a.tagName+' '+(a.getAttribute('class')||''),at:nodes.findIndex((n,i)=>
  document.querySelectorAll('.dwp .frames g')[i]===a),field:!!q('input'),
 ring:{shown:getComputedStyle(ring).display!=='none',x:ring.getAttribute('x'),y:ring.getAttribute('y'),
  w:ring.getAttribute('width')}}})()"""

CONTRAST = """(()=>{const rgb=s=>s.match(/[\\d.]+/g).map(Number),
L=c=>{const[r,g,b]=c.map(v=>(v/=255)<=.03928?v/12.92:((v+.055)/1.055)**2.4);return .2126*r+.7152*g+.0722*b},
K=(a,b)=>{a=L(a);b=L(b);return(Math.max(a,b)+.05)/(Math.min(a,b)+.05)},
paper=rgb(getComputedStyle(document.querySelector('.dwp .paper')).fill);let least=99;
const first=rgb(getComputedStyle(document.querySelector('.dwp .frames text')).fill);
for(const r of document.querySelectorAll('.dwp .frames g>rect')){
 const s=getComputedStyle(r),o=+s.fillOpacity;
 least=Math.min(least,K(first,rgb(s.fill).map((v,i)=>v*o+paper[i]*(1-o))))}
for(const t of document.querySelectorAll('.dwp text')){if(!t.textContent)continue;
 const ink=rgb(getComputedStyle(t).fill),r=t.parentNode.querySelector(':scope>rect');
 let under=paper;if(r&&!t.closest('.legend')){const s=getComputedStyle(r),o=+s.fillOpacity;
  under=rgb(s.fill).map((v,i)=>v*o+paper[i]*(1-o))}
 least=Math.min(least,K(ink.slice(0,3),under.slice(0,3)))}return least})()"""


class Check:
    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, what, good, *why):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print("failed:", what, *why)


def middle(node):
    return (max(node["left"], 0) + node["right"]) / 2, (node["top"] + node["bottom"]) / 2


def tree_of(nodes, down):
    """Parents and last descendants, from the file's order and the rows."""
    base, way = nodes[0]["y"], []
    for node in nodes:
        node["d"] = abs(node["y"] - base) // 18
        del way[node["d"]:]
        node["p"] = way[-1]["i"] if way else None
        node["e"] = node["i"]
        for outer in way:
            outer["e"] = node["i"]
        way.append(node)
    return nodes


def check_layout(check, browser, where, down):
    state = browser.js(STATE)
    nodes = tree_of(state["nodes"], down)
    shown = [n for n in nodes if n["shown"]]
    loose = [n["name"] for n in shown if n["text"] and n["tright"] > n["right"] + 0.5]
    check(f"{where}: text lies in its bar", not loose, loose[:3])
    out = [n["name"] for n in shown if n["p"] is not None and nodes[n["p"]]["shown"] and
           (n["left"] < nodes[n["p"]]["left"] - 0.1 or n["right"] > nodes[n["p"]]["right"] + 0.1)]
    check(f"{where}: bars lie in their parents", not out, out[:3])
    check(f"{where}: wide bars have text",
          all(n["text"] for n in shown if n["right"] - n["left"] > 60))
    return state, nodes


def check_open(check, browser, path, shots, down):
    for width, height, dark in ((1200, 700, False), (1200, 700, True), (700, 500, False), (700, 500, True)):
        where = f"{width}x{height} {'dark' if dark else 'light'}"
        browser.open(path, width, height, dark)
        check(f"{where}: no errors", not browser.errors(), browser.errors())
        check(f"{where}: nothing asked for", len(browser.requests()) == 1, browser.requests())
        least = browser.js(CONTRAST)
        check(f"{where}: contrast {least:.2f} is 4.5 at least", least >= 4.5)
        check_layout(check, browser, where, down)
        browser.shot(shots and f"{shots}-{width}-{'dark' if dark else 'light'}.png")
    browser.open(path, 1200, 700)
    browser.size(400, 500)
    browser.settle()
    browser.js("new Promise(r=>setTimeout(r,200))")
    state, _ = check_layout(check, browser, "resized to 400", down)
    check("it follows the window", 350 < state["nodes"][0]["right"] <= 400, state["nodes"][0]["right"])


def pick(nodes):
    """One to zoom to: with an inner one, others to its left, in reach of the window."""
    fit = [n for n in nodes if n["d"] >= 2 and n["e"] > n["i"] and n["right"] - n["left"] > 8 and
           0 < n["top"] < 690]
    return max(fit, key=lambda n: (n["x"] > 0, n["e"] - n["i"] > 3, n["d"] > 2, n["w"]))


def zoomed_to(state):
    return [n for n in state["nodes"] if n["shown"] and not n["over"]][0]["i"]


def check_zoom(check, browser, path, shots, down):
    browser.open(path, 1200, 700)
    nodes = tree_of(browser.js(STATE)["nodes"], down)
    node = pick(nodes)
    browser.click(*middle(node))
    state, after = check_layout(check, browser, "zoomed", down)
    got = after[node["i"]]
    check("click: the bar takes the width", abs(got["w"] - 100) < 1e-6 and got["x"] == 0, got)
    family = {n["i"] for n in nodes if node["i"] <= n["i"] <= node["e"] or
              (n["i"] < node["i"] and n["e"] >= node["e"])}
    check("click: its family alone is shown", {n["i"] for n in after if n["shown"]} == family)
    for inner in nodes[node["i"] + 1:node["e"] + 1]:
        if abs(after[inner["i"]]["w"] - inner["w"] * 100 / node["w"]) > 1e-6:
            check("click: inner bars keep their shares", False, inner["name"])
            break
    check("click: said", state["said"].startswith(node["name"][:20]), state["said"])
    browser.shot(shots and shots + "-zoomed.png")
    inner = next((n for n in after if n["p"] == node["i"] and n["right"] - n["left"] > 3), None)
    if inner:
        browser.click(*middle(inner))
        check("click: further in", zoomed_to(browser.js(STATE)) == inner["i"])
        browser.key("Backspace")
        check("Backspace: back where it was", zoomed_to(browser.js(STATE)) == node["i"])
    browser.key("Backspace")
    state = browser.js(STATE)
    check("Backspace: all again", all(n["shown"] for n in state["nodes"]))
    check("all again, at the same places",
          all(abs(a["w"] - b["w"]) < 1e-9 and abs(a["x"] - b["x"]) < 1e-9
              for a, b in zip(state["nodes"], nodes)))
    for what, undo in (("Escape", lambda: browser.key("Escape")), ("Reset", lambda: browser.click(1159, 20))):
        browser.click(*middle(node))
        check(f"{what}: zoomed before", zoomed_to(browser.js(STATE)) == node["i"])
        undo()
        check(f"{what}: all again", all(n["shown"] for n in browser.js(STATE)["nodes"]))
    browser.click(*middle(node))
    root = tree_of(browser.js(STATE)["nodes"], down)[0]
    browser.click(*middle(root))
    check("click on the whole: all again", all(n["shown"] for n in browser.js(STATE)["nodes"]))


def share_of(nodes, pattern, within):
    total, skip, count = 0, -1, 0
    for node in nodes[within["i"]:within["e"] + 1]:
        if re.search(pattern, node["name"], 0 if re.search("[A-Z]", pattern) else re.I):
            count += 1
            if node["i"] > skip:
                total += node["w"]
                skip = node["e"]
    return count, total / within["w"] * 100


def check_search(check, browser, path, shots, down):
    browser.open(path, 1200, 700)
    nodes = tree_of(browser.js(STATE)["nodes"], down)
    deep = max(nodes, key=lambda n: (n["d"], n["w"]))
    pattern = "^" + re.escape(deep["name"]).replace("\\", "\\")
    pattern = re.sub(r"\\([^\w.\[\]()*+?{}|^$\\])", r"\1", pattern)
    for how in (lambda: browser.key("/"), lambda: browser.key("Control+f"), lambda: browser.click(1089, 20)):
        how()
        state = browser.js(STATE)
        check("search: the field has the focus", state["focus"].startswith("input"), state["focus"])
        browser.key("Escape")
        check("search: Escape closes it", not browser.js(STATE)["field"])
    browser.key("/")
    browser.text(pattern)
    state = browser.js(STATE)
    count, share = share_of(nodes, pattern, nodes[0])
    check("search: what a loop finds", sum(n["hit"] for n in state["nodes"]) == count > 0, count)
    check("search: the share is said", state["found"] ==
          f"{count} found, {share:.1f}% of what is shown", state["found"], count, share)
    check("search: contrast", browser.js(CONTRAST) >= 4.5, browser.js(CONTRAST))
    browser.shot(shots and shots + "-search.png")
    browser.media("screen", dark=True)
    check("search: contrast in dark", browser.js(CONTRAST) >= 4.5, browser.js(CONTRAST))
    browser.key("Enter")
    state = browser.js(STATE)
    check("search: Enter goes to the first", state["at"] >= 0 and state["nodes"][state["at"]]["hit"])
    browser.key("/")
    browser.text(".")
    found = browser.js(STATE)["found"]
    check("search: bars in found bars count once", found ==
          f"{len(nodes)} found, 100.0% of what is shown", found)
    browser.key("/")
    browser.text("(")
    check("search: a wrong expression is said", browser.js(STATE)["found"] == "not a regular expression")
    check("search: no error of it", not browser.errors(), browser.errors())
    browser.key("Escape")
    state = browser.js(STATE)
    check("search: Escape clears", not any(n["hit"] for n in state["nodes"]) and not state["found"])


def check_keyboard(check, browser, path, shots, down):
    browser.open(path, 1200, 700)
    nodes = tree_of(browser.js(STATE)["nodes"], down)
    inward, outward = ("ArrowDown", "ArrowUp") if down else ("ArrowUp", "ArrowDown")
    browser.key("Tab")
    state = browser.js(STATE)
    check("Tab: the picture first", state["at"] == 0, state["focus"])
    check("focus is seen", state["ring"]["shown"] and state["ring"]["w"] == "100%", state["ring"])
    check("one node in the order of Tab", [n["tab"] for n in state["nodes"]].count("0") == 1)
    check("roles", all(n["role"] == "treeitem" for n in state["nodes"]))
    at = 0
    while True:
        browser.key(inward)
        state = browser.js(STATE)
        if state["at"] == at:
            break
        check("inward: a part of it", nodes[state["at"]]["p"] == at)
        at = state["at"]
    check("inward: to the innermost", nodes[at]["e"] == at)
    browser.key(outward)
    at = browser.js(STATE)["at"]
    row = [n["i"] for n in nodes if n["d"] == nodes[at]["d"]]
    for key, by in (("ArrowRight", 1), ("ArrowRight", 1), ("ArrowLeft", -1)):
        browser.key(key)
        place = row.index(at) + by
        at = row[place] if 0 <= place < len(row) else at
        state = browser.js(STATE)
        check(key, state["at"] == at, state["at"], at)
    node = state["nodes"][at]
    check("the ring is on it", float(state["ring"]["x"][:-1]) == node["x"] and
          float(state["ring"]["w"][:-1]) == node["w"] and int(state["ring"]["y"]) == node["y"])
    check("it is said", state["said"].startswith(node["name"][:20]))
    browser.key("Enter")
    state = browser.js(STATE)
    check("Enter: zooms", zoomed_to(state) == at)
    check("Enter: keeps the focus", state["at"] == at and float(state["ring"]["w"][:-1]) > 99.9999)
    browser.shot(shots and shots + "-keyboard.png")
    browser.key("Home")
    check("Home: the whole", browser.js(STATE)["at"] == 0)
    browser.key("Tab")
    check("Tab: Search", "Search" in browser.js(STATE)["focus"])
    browser.key("Enter")
    check("Enter on Search: the field", browser.js(STATE)["focus"].startswith("input"))
    browser.key("Escape")
    for _ in range(2):
        browser.key("Tab")
    check("Tab: Reset", "Reset" in browser.js(STATE)["focus"])
    browser.key(" ")
    check("Space on Reset: all again", all(n["shown"] for n in browser.js(STATE)["nodes"]))
    check("no errors", not browser.errors(), browser.errors())


def check_places(check, browser, path, shots, folder):
    with open(path, encoding="utf-8") as file:
        svg = file.read()
    page = os.path.join(folder, "img.html")
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"<!doctype html><body style='margin:0'><img src='file://{os.path.abspath(path)}'>")
    browser.open(page, 1200, 700)
    size = browser.js("[document.images[0].naturalWidth,document.images[0].naturalHeight]")
    check("in <img>: its own size", size[0] == 1200 and size[1] > 100, size)
    browser.shot(shots and shots + "-img.png")
    script = re.search(r"<script><!\[CDATA\[(.*?)\]\]></script>", svg, re.S).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = os.path.join(folder, "policy.html")
    with open(page, "w", encoding="utf-8") as file:
        file.write("<!doctype html><meta charset=utf-8><meta http-equiv=Content-Security-Policy content=\""
                   f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'\">"
                   + svg[svg.index("<svg"):])
    browser.open(page, 1200, 700)
    check("under a policy: no errors", not browser.errors(), browser.errors())
    check("under a policy: it runs", browser.js("document.querySelector('.dwp').classList.contains('on')"))
    nodes = tree_of(browser.js(STATE)["nodes"], False)
    node = max(nodes[1:], key=lambda n: n["d"] == 1 and n["w"]) if len(nodes) > 1 else nodes[0]
    browser.click(*middle(node))
    check("under a policy: it zooms", zoomed_to(browser.js(STATE)) == node["i"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shots")
    parser.add_argument("pictures", nargs="+")
    options = parser.parse_args()
    if lack():
        print("skipped: " + lack())
        return 77
    check = Check()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder: # Chromium writes on
        browser = Browser()
        try:
            for path in options.pictures:
                shots = options.shots and os.path.join(options.shots, os.path.basename(path)[:-4])
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                if 'class="dwp curve"' in text:
                    check_curve(check, browser, path, shots, folder)
                    continue
                down = 'class="dwp down"' in text
                check_open(check, browser, path, shots, down)
                check_zoom(check, browser, path, shots, down)
                check_search(check, browser, path, shots, down)
                check_keyboard(check, browser, path, shots, down)
                check_places(check, browser, path, shots, folder)
        finally:
            browser.close()
    print(f"{check.passed} passed, {check.failed} failed")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
