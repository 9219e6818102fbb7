"""Pages under axe, html-validate and the Tab key, in a Browser of browser.py.

A page stands at three widths in both colour schemes, with every panel made: axe must find nothing. html-validate
reads the file and what its script made of it, and must find nothing. Tab reaches every control, in order and visibly,
and leaves the page at its end. axe and html-validate come from `tools/venv page`.
"""
import json
import os
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Width, height, dark.
ALL = ((1400, 900, False), (360, 780, True), (800, 900, False), (1400, 900, True), (360, 780, False), (800, 900, True))
TWO = ALL[:2]
RUN_AXE = """axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) =>
  `${v.id}: ${v.help}: ` + v.nodes.slice(0, 4).map((n) => n.target.join(' ') + ' ' + n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')))"""
# What the page looks like to a reader of HTML. Styles hold data (widths, colours of parts), and texts may be long.
RULES = {"extends": ["html-validate:standard", "html-validate:a11y", "html-validate:document"],
         "rules": {"no-inline-style": "off", "long-title": "off", "no-trailing-whitespace": "off", "attr-quotes": "off",
                   "attribute-boolean-style": "off", "no-raw-characters": "off", "require-sri": "off", "require-csp-nonce": "off"}}
# Controls that Tab must reach: all that are shown and not disabled.
CONTROLS = """[...document.querySelectorAll('a[href],button,input,select,summary,[tabindex="0"]')].filter((e) =>
  e.tabIndex >= 0 && !e.disabled && e.getClientRects().length && getComputedStyle(e).visibility === 'visible')"""
FOCUSED = """(() => { const e = document.activeElement; if (!e || e === document.body) return null;
  const s = getComputedStyle(e), b = e.getBoundingClientRect();
  return { at: window.controls.indexOf(e), what: e.tagName + '.' + (e.className || '') + ' ' + (e.getAttribute('aria-label') || e.textContent).slice(0, 40),
    ring: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1, seen: b.bottom > 0 && b.top < innerHeight && b.right > 0 && b.left < innerWidth } })()"""
MOST_TABS = 400


class Tools:
    """Node.js, axe and html-validate; None in `node` if they cannot be installed."""

    def __init__(self):
        made = subprocess.run([os.path.join(ROOT, "tools/venv"), "page"], stdout=subprocess.PIPE, text=True, check=False)
        self.node = None
        if made.returncode == 0:
            home = os.path.dirname(os.path.dirname(made.stdout.splitlines()[-1]))
            self.node, modules = os.path.join(home, "bin/node"), os.path.join(home, "node_modules")
            self.validate = os.path.join(modules, "html-validate/bin/html-validate.mjs")
            with open(os.path.join(modules, "axe-core/axe.min.js"), encoding="utf-8") as file:
                self.axe = file.read()


def all_panels(browser):
    browser.js("dispatchEvent(new Event('beforeprint'))")
    browser.settle()


def axe(check, tools, browser, name, page, stands):
    for width, height, dark in stands:
        browser.open(page, width, height, dark)
        what = f"{name}, {width} pixels{', dark' if dark else ''}"
        all_panels(browser)
        browser.js("document.querySelector('#timeline')?.scrollIntoView()")
        browser.settle()
        browser.js(tools.axe + ";0")
        found = browser.js(RUN_AXE)
        check(f"{what}: axe finds nothing", not found, "\n  " + "\n  ".join(found))


def tab(check, browser, name, page):
    """Tab from the top to the end and out of the page."""
    browser.open(page, 1400, 900)
    all_panels(browser)
    controls = browser.js(f"window.controls = {CONTROLS}; window.controls.length")
    reached, hidden, unseen, left = set(), [], [], False
    for _ in range(MOST_TABS):
        browser.key("Tab")
        at = browser.js(FOCUSED)
        if at is None or 0 <= at["at"] in reached:
            left = at is None or at["at"] == min(reached - {-1})
            break
        reached.add(at["at"])
        if not at["ring"]:
            hidden.append(at["what"])
        if not at["seen"]:
            unseen.append(at["what"])
    check(f"{name}: Tab leaves the page at its end", left or len(reached) == MOST_TABS, len(reached))
    if len(reached) < MOST_TABS:
        check(f"{name}: Tab reaches all {controls} controls", len(reached - {-1}) >= controls, browser.js(
            f"window.controls.filter((e, i) => !{json.dumps(sorted(reached))}.includes(i)).slice(0, 5)"
            ".map((e) => e.tagName + ' ' + e.className + ' in ' + e.closest('section')?.id).join(' | ')"))
    check(f"{name}: the focus has a ring", not hidden, hidden[:3])
    check(f"{name}: the focus is on the screen", not unseen, unseen[:3])


def without_data(browser, name, page, folder):
    """Two files: the page as it is, and what its script made of it; without the data."""
    files = []
    with open(page, encoding="utf-8") as file:
        texts = {"file": file.read(), "made": "<!DOCTYPE html>\n" + browser.js("document.documentElement.outerHTML")}
    for kind, text in texts.items():
        before, _, after = text.partition('id="data">')
        files.append(os.path.join(folder, f"{name}-{kind}.html"))
        with open(files[-1], "w", encoding="utf-8") as file:
            file.write(before + 'id="data">{}' + after[after.index("</script>"):])
    return files


def validate(check, tools, pages, folder):
    with open(os.path.join(folder, ".htmlvalidate.json"), "w", encoding="utf-8") as file:
        json.dump({"root": True, **RULES}, file)
    wrong = os.path.join(folder, "wrong.html")
    with open(wrong, "w", encoding="utf-8") as file:
        file.write('<!DOCTYPE html>\n<html lang="en"><head><title>x</title></head><body><p id="a" id="a"><button>x</button></body></html>\n')
    said = os.path.join(folder, "said.json")
    with open(said, "w", encoding="utf-8") as file:  # Node.js ends before a pipe has taken all
        result = subprocess.run([tools.node, tools.validate, "--formatter", "json", *pages, wrong],
                                cwd=folder, stdout=file, stderr=subprocess.PIPE, text=True, check=False)
    with open(said, encoding="utf-8") as file:
        found = [f"{os.path.basename(item['filePath'])}:{m['line']}:{m['column']} {m['ruleId']}: {m['message']} {m.get('selector')}"
                 for item in json.loads(file.read() or "[]") for m in item["messages"]]
    planted = [text for text in found if text.startswith("wrong.html")]
    check("html-validate finds what is wrong", planted, result.stderr[-600:])
    found = [text for text in found if text not in planted]
    check(f"html-validate finds nothing in {len(pages)} files", not found, "\n  " + "\n  ".join(found[:12]))
