#!/usr/bin/env python3
"""The web site of `make site`, read in headless Chromium.

usage: site_chromium.py

Each page of a document has its headings and, letter by letter, its blocks of code; outside of code no mark of Markdown and no tag of
HTML is seen; links lead to files that are there; nothing is asked from a network; no page is wider than its window. Without Chromium or
MkDocs it is skipped. The last line is "N passed, N failed".
"""
import functools
import http.server
import os
import re
import subprocess
import sys
import tempfile
import threading
from urllib.parse import unquote, urlparse

from browser import ROOT, Browser, lack

FENCE = re.compile(r"^( *)```(.*?)\n(.*?)^ *```", re.M | re.S)
# What a reader sees outside of code, the addresses that links have, and the blocks of code.
SEEN = """(() => { const page = document.querySelector('[role=main]'), copy = page.cloneNode(true);
  const links = [...page.querySelectorAll('a[href]')].map(a => a.href), codes = [...page.querySelectorAll('pre')].map(p => p.textContent);
  const heads = page.querySelectorAll('h1,h2,h3,h4').length;
  copy.querySelectorAll('pre,code').forEach(e => e.remove());
  return {text: copy.textContent, links, codes, heads, wide: document.documentElement.scrollWidth - innerWidth}; })()"""
MARKS = re.compile(r"```|~~~|\*\*|\]\(|</?(?:p|b|i|a|em|br|div|img|code|table|details|summary)\b[^>]*>|^ *\|.*\|$", re.M)
passed = failed = 0


def check(what, good, said=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAIL {what}: {str(said)[:400]}")


def dedent(indent, code):
    return "".join(line.removeprefix(indent) for line in code.splitlines(True))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A page that is left asks no more for what it asked for."""


def serve(folder):
    """A web server of the folder's files, until the program ends. Returns its address."""
    server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def check_page(browser, address, folder, name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        text = file.read()
    browser.asked.clear()
    browser.page.goto(address + ("index.html" if name == "README.md" else name[:-2] + "html"))
    seen = browser.js(SEEN)
    codes = [dedent(indent, code).rstrip() for indent, _, code in FENCE.findall(text)]
    rest = FENCE.sub("", text)
    lost = [code for code in codes if code not in {each.rstrip() for each in seen["codes"]}]
    check(f"{name}: each block of code is one on the page", not lost, lost[:1])
    check(f"{name}: each heading is one on the page", seen["heads"] >= len(re.findall(r"^#{1,4} ", rest, re.M)), seen["heads"])
    marks = MARKS.findall(seen["text"])
    check(f"{name}: no mark of Markdown and no tag in the text", not marks, marks[:3])
    files = [folder + unquote(urlparse(link).path) for link in seen["links"] if link.startswith(address)]
    gone = [each for each in files if not os.path.exists(each)]
    check(f"{name}: links lead to files", not gone, gone[:3])
    check(f"{name}: nothing is asked from a network, and nothing is wrong",
          not browser.wrong and all(each.startswith((address, "data:")) for each in browser.asked), (browser.wrong, browser.asked))
    check(f"{name}: it is as wide as the window", seen["wide"] <= 0, seen["wide"])


def check_files(browser, folder):
    """The site as files: search finds, and half of a narrow window is text."""
    browser.open(os.path.join(folder, "search.html") + "?q=stragglers", 800, 800)
    found = browser.wait("document.querySelector('#mkdocs-search-results article a')")
    check("search finds in a site of files, and nothing is wrong", found and not browser.wrong, browser.wrong)
    browser.open(os.path.join(folder, "doc/start/pytorch.html"), 800, 800)
    wide = browser.js("document.querySelector('.wy-nav-content pre').getBoundingClientRect().width")
    check("800 pixels: code has most of the width", wide > 500, wide)


def main():
    if lack():
        print(f"skip site_chromium: {lack()}")
        return 77
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "site")
        made = subprocess.run([os.path.join(ROOT, "tools/make/site"), folder], check=False)
        if made.returncode:
            return made.returncode
        browser, address = Browser(), serve(folder)
        browser.open(address, 1000, 800)
        pages = [os.path.join("doc", at, name) for at in ("start", "how", "reference", "why", "measured")
                 for name in sorted(os.listdir(os.path.join(ROOT, "doc", at))) if name.endswith(".md")]
        for name in ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", *pages]:
            check_page(browser, address, folder, name)
        check_files(browser, folder)
        browser.close()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
