"""The system's Chromium, driven by Playwright, for what tests and pictures do with a page.

    if not lack():
        browser = Browser()
        browser.open("report.html", 1280, 900)
        title = browser.js("document.title")
        browser.close()

Playwright comes from `tools/venv page`. One page is open at a time; what it asks for and what it complains about is kept
until the next one is opened. A file that follows another one takes its window, which costs a quarter of a new one: files keep
nothing in the browser. After input the window is a new one, because the pointer would rest on the next page.
"""
import functools
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LONG_S = 300  # no limit of how fast something is: only what hangs takes longer, on a machine of any load
FLAGS = ["--no-sandbox", "--disable-gpu"]  # root has no sandbox
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"


def chromium():
    """The path of the system's Chromium, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@functools.cache
def lack():
    """What is missing for a Browser, or "". Installs Playwright."""
    if not chromium():
        return "Chromium is not installed"
    made = subprocess.run([os.path.join(ROOT, "tools/venv"), "--packages", "page"], stdout=subprocess.PIPE, text=True, check=False)
    if made.returncode:
        return "tools/venv page cannot install Playwright"
    sys.path.append(made.stdout.splitlines()[-1])
    return ""


class Browser:
    def __init__(self):
        if lack():
            sys.exit(lack())
        from playwright.sync_api import sync_playwright
        self.playwright = sync_playwright().start()
        self.chromium = self.playwright.chromium.launch(executable_path=chromium(), args=FLAGS, timeout=LONG_S * 1000)
        self.context = self.page = None
        self.untouched = False  # the window has a file, and had no input

    def open(self, address, width, height, dark=False):
        """Opens a file or an http address, and waits until it is loaded and drawn."""
        is_file = not address.startswith(("http:", "about:"))
        if not (is_file and self.untouched):
            self._new_window()
        self.untouched = is_file
        self.size(width, height)
        self.media("null", dark)
        self.asked, self.wrong = [], []
        self.page.goto("file://" + os.path.abspath(address) if is_file else address)
        self.settle()

    def _new_window(self):
        if self.context:
            self.context.close()
        self.context = self.chromium.new_context()
        self.context.set_default_timeout(LONG_S * 1000)
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda message: message.type in ("error", "warning") and self.wrong.append(message.text))
        self.page.on("dialog", self._refuse_dialog)

    def _refuse_dialog(self, dialog):
        self.wrong.append("a dialog: " + dialog.message)
        dialog.dismiss()

    def js(self, code):
        """The value of an expression in the page; promises are waited for."""
        return self.page.evaluate(code)

    def wait(self, condition, seconds=LONG_S):
        """Whether an expression becomes true in time. The page may be replaced meanwhile."""
        from playwright.sync_api import Error
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if self.js(f"!!({condition})"):
                    return True
            except Error:
                pass
            self.page.wait_for_timeout(20)
        return False

    def settle(self):
        """Waits until what has changed is drawn."""
        self.js(DRAWN)

    def size(self, width, height):
        self.page.set_viewport_size({"width": width, "height": height})

    def media(self, kind, dark):
        """`kind`: "screen", "print" or "null", as the browser has it."""
        self.page.emulate_media(media=kind, color_scheme="dark" if dark else "light")

    def key(self, name):
        """A key by Playwright's name: "Enter", "w", "Control+f"."""
        self.untouched = False
        self.page.keyboard.press(name)
        self.settle()

    def text(self, text):
        self.untouched = False
        self.page.keyboard.insert_text(text)
        self.settle()

    def move(self, x, y):
        self.untouched = False
        self.page.mouse.move(x, y)
        self.settle()

    def click(self, x, y):
        self.untouched = False
        self.page.mouse.click(x, y)
        self.settle()

    def drag(self, x, y, to_x, to_y):
        self.untouched = False
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(to_x, to_y)
        self.page.mouse.up()
        self.settle()

    def wheel(self, x, y, by):
        """Turns the wheel by so many pixels; more than 0 is downwards."""
        self.untouched = False
        self.page.mouse.move(x, y)
        self.page.mouse.wheel(0, by)

    def picture(self, clip=None):
        """A PNG of the window, or of a box {"x", "y", "width", "height"} of the page."""
        return self.page.screenshot(clip=clip, full_page=bool(clip), animations="allow")

    def shot(self, path):
        """Writes a picture of the window, if there is a path."""
        if path:
            with open(path, "wb") as file:
                file.write(self.picture())

    def errors(self):
        """Exceptions, errors and warnings of the page's scripts, policy and network, and dialogs."""
        return self.wrong

    def requests(self):
        """The addresses that the page asked for, its own first."""
        return self.asked

    def close(self):
        self.chromium.close()
        self.playwright.stop()
