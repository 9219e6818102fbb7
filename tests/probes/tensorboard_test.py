"""TensorBoard, XProf and JAX as clients of the capture service, as people use them.

usage: tensorboard_test.py DWELL PROGRAM [ARGUMENT...] [--shots FOLDER]

Under the Python of `tools/venv jax`. Captures from PROGRAM, which runs for minutes if it
is let: with `python -m jax.collect_profile`, with gRPC's own client, and through TensorBoard
in Chromium: CAPTURE PROFILE, address and milliseconds typed in, then every tool of the
captured run, whose figures must be those of `dwell report`. --shots keeps pictures of them.

The plugin draws with Google Charts, which browsers load from the net. Here a stand-in does
(charts_standin.js), and nothing else comes from the net either: all but the drawing is the
real thing.
"""
import contextlib
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "serve"))
import h2  # noqa: E402

passed = failures = 0


def check(what, holds, *seen):
    global passed, failures
    print("ok  " if holds else "FAIL", what, *(str(each)[:400] for each in (seen if not holds else ())), flush=True)
    passed += bool(holds)
    failures += not holds


def fetch(url):
    with urllib.request.urlopen(url, timeout=600) as answer:
        data = answer.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


# ---- other clients --------------------------------------------------------------------------

def check_jax(port, folder, milliseconds):
    done = subprocess.run([sys.executable, "-m", "jax.collect_profile", str(port), str(milliseconds), "--log_dir", folder,
                           "--no_perfetto_link"], capture_output=True, text=True, timeout=600 + milliseconds / 1000)
    check("jax.collect_profile ends well", done.returncode == 0, done.stderr[-500:])
    files = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    space = next((name for name in files if name.endswith(".xplane.pb")), None)
    check("and has stored a capture", space is not None, files)
    if space:
        with open(space, "rb") as file:
            counts = h2.events(file.read())
        check("of the program's operators and steps", counts.get("train", 0) > 0 and len(counts) > 1, counts)


def busy(profile):
    """Whether the service refuses a capture because one is under way."""
    import grpc
    try:
        profile(h2.profile_request(100), timeout=600)
    except grpc.RpcError as error:
        return error.code() == grpc.StatusCode.ALREADY_EXISTS
    return False


def becomes(state, what, seconds=60):
    """Whether what() is `state`, at last."""
    end = time.monotonic() + seconds
    while (seen := what()) != state and time.monotonic() < end:
        time.sleep(0.05)
    return seen == state


def long_enough(profile):
    """Milliseconds in which the program takes some steps: on a busy machine many."""
    for milliseconds in (500, 1000, 2000, 4000, 8000, 16000):
        reply = profile(h2.profile_request(milliseconds), timeout=600)
        if h2.events(h2.tool_data(reply)).get("train", 0) >= 6:
            return 4 * milliseconds
    return 64000


def check_grpc(port):
    """And how long a capture must be."""
    import grpc
    raw = {"request_serializer": bytes, "response_deserializer": bytes}
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.max_receive_message_length", -1)]) as channel:
        profile = channel.unary_unary(h2.SERVICE + "Profile", **raw)
        milliseconds = long_enough(profile)
        reply = profile(h2.profile_request(milliseconds), timeout=600)
        check("gRPC's client is answered", len(h2.events(h2.tool_data(reply))) > 1)
        for path in (h2.SERVICE + "Monitor", "/tensorflow.ProfileAnalysis/NewSession"):
            try:
                channel.unary_unary(path, **raw)(b"", timeout=10)
                check(f"{path} is UNIMPLEMENTED", False)
            except grpc.RpcError as error:
                check(f"{path} is UNIMPLEMENTED", error.code() == grpc.StatusCode.UNIMPLEMENTED, error)
        long = profile.future(h2.profile_request(3000000, session="long"), timeout=600)
        check("busy: ALREADY_EXISTS", becomes(True, lambda: busy(profile)))
        long.cancel()
        check("cancelled: the next is served", becomes(False, lambda: busy(profile)))
        long = profile.future(h2.profile_request(3000000, session="long"), timeout=600)
        check("busy again", becomes(True, lambda: busy(profile)))
        channel.unary_unary(h2.SERVICE + "Terminate", **raw)(h2.field(1, "long"), timeout=600)
        check("Terminate: answered with what there is", len(long.result(timeout=600)) > 0)
    return milliseconds


# ---- TensorBoard ----------------------------------------------------------------------------

def shoot(page, shots, name):
    if shots:
        page.screenshot(path=os.path.join(shots, name + ".png"))


def answer(route):
    """Nothing from the net: Google's drawing library is a stand-in, all else is this machine's."""
    url = urllib.parse.urlsplit(route.request.url)
    if url.hostname in ("localhost", "127.0.0.1") or url.scheme in ("data", "blob"):
        route.continue_()
    elif url.path.endswith("/charts/loader.js"):
        route.fulfill(path=os.path.join(HERE, "charts_standin.js"), content_type="text/javascript")
    else:
        route.abort()


def typed(fields, wanted):
    """Types `wanted`, texts by the number of their field. Whether all fields show them."""
    for number, text in wanted.items():
        if fields.nth(number).input_value() != text:
            fields.nth(number).fill(text)
    return all(fields.nth(number).input_value() == text for number, text in wanted.items())


def capture(page, web, port, shots, milliseconds):
    """CAPTURE PROFILE, as a person does."""
    page.goto(f"http://localhost:{web}/#profile", timeout=240000)
    button = page.frame_locator("iframe").get_by_role("button", name="CAPTURE PROFILE").first
    button.click(timeout=240000)
    frame = next(frame for frame in page.frames if "plugin/profile" in frame.url)
    inputs = frame.locator("mat-dialog-container input")
    inputs.first.wait_for(timeout=120000)
    duration = next(i for i in range(inputs.count()) if inputs.nth(i).input_value() == "1000")
    wanted = {0: f"localhost:{port}", duration: str(milliseconds)}
    # The dialog moves the focus to its first field once it is open; what is typed then goes to that field.
    if not until(page, lambda: typed(inputs, wanted)):
        raise TimeoutError("the dialog of CAPTURE PROFILE did not keep the address and the duration")
    shoot(page, shots, "tensorboard-capture")
    frame.locator("mat-dialog-container").get_by_role("button", name="CAPTURE").click()


def wait_for_run(page, folder, seconds=60):
    """(run, host) of what TensorBoard has stored. Waits in the page: it asks route()."""
    at = os.path.join(folder, "plugins", "profile")
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for run in os.listdir(at) if os.path.isdir(at) else ():
            for name in os.listdir(os.path.join(at, run)):
                if name.endswith(".xplane.pb"):
                    return run, name[:-len(".xplane.pb")]
        page.wait_for_timeout(200)
    raise TimeoutError("TensorBoard has stored no capture")


# What each of the plugin's tools is called, and a text that it shows of a program's data.
TOOLS = {"overview_page": ("Overview Page", "Host Compute Time"),
         "input_pipeline_analyzer": ("Input Pipeline Analysis", "Average"),
         "framework_op_stats": ("Framework Op Stats", "convolution_backward_weights"),
         "memory_profile": ("Memory Profile", "Peak Memory Usage"),
         "trace_viewer": ("Trace Viewer", None)}


def plugin(page):
    return next(frame for frame in page.frames if "plugin/profile" in frame.url)


def whole_text(page):
    """The words of all frames; some tools have one of their own."""
    texts = []
    for frame in page.frames[1:]:
        with contextlib.suppress(Exception):
            texts.append(frame.locator("body").inner_text(timeout=3000))
    return "\n".join(texts)


def choose(page, label):
    """A tool from the plugin's list, which some tools fold away; it is folded away for a better view."""
    frame, menu = plugin(page), plugin(page).get_by_role("button", name="menu").first
    if not frame.locator("mat-select").nth(1).is_visible():
        menu.click()
    frame.locator("mat-select").nth(1).click(timeout=120000)
    frame.locator("mat-option").get_by_text(label, exact=True).click(timeout=120000)
    page.wait_for_timeout(1000)
    if frame.locator("mat-select").nth(1).is_visible():
        menu.click()


def until(page, what, seconds=60):
    """What `what` returns, as soon as that is something."""
    end = time.monotonic() + seconds
    while not (seen := what()) and time.monotonic() < end:
        page.wait_for_timeout(500)
    return seen


def wait_for(page, text):
    until(page, lambda: not text or text in whole_text(page))
    page.wait_for_timeout(4000)  # charts are drawn
    return whole_text(page)


# ---- what the tools show, beside dwell's own report of the same file ------------------------

def report(dwell, space, view):
    """{part: rows as {column: value}} of a view."""
    done = subprocess.run([dwell, "report", "--view", view, "--format", "json", space], capture_output=True,
                          text=True, check=True, timeout=600)
    return {table.get("part"): [dict(zip((column["name"] for column in table["columns"]), row)) for row in table["rows"]]
            for table in json.loads(done.stdout)["views"]}


def inner_steps(dwell, space):
    """Durations in ms; of many steps the plugin leaves out the first and the last."""
    steps = [row for row in next(iter(report(dwell, space, "steps").values())) if "not recorded" not in row.values()]
    return [row["duration_ns"] / 1e6 for row in steps][1:-1]


def number_after(text, label):
    found = re.search(re.escape(label) + r"\s*(?:\(\u03c3 = [\d.]+ ms\)\s*)?([\d,.]+)", text)
    return float(found.group(1).replace(",", "")) if found else None


def cells(page, column):
    """Rows of the tool's tables, once they are drawn: {heading: text}, of those that have the column."""
    def drawn():
        rows = []
        for table in plugin(page).locator("table.google-visualization-table-table").all():
            texts = table.locator("tr").evaluate_all(
                "rows => rows.map(row => [...row.children].map(cell => cell.innerText))")
            if texts and column in texts[0]:
                rows += [dict(zip(texts[0], line)) for line in texts[1:]]
        return rows
    return until(page, drawn)


def see_overview(page, text, dwell, space):
    steps = inner_steps(dwell, space)
    mean, shown = sum(steps) / len(steps), number_after(text, "Host Compute Time")
    check(f"overview: the mean step, {shown} ms, is ours", shown is not None and abs(shown - mean) <= 0.11, mean, text)


def see_steps(page, text, dwell, space):
    steps = inner_steps(dwell, space)
    ours = [sum(steps) / len(steps), min(steps), max(steps)]
    found = re.search(r"Average: ([\d.]+) ms.*\s+Range: ([\d.]+) - ([\d.]+) ms", text)
    shown = [float(number) for number in found.groups()] if found else []
    check(f"input pipeline: steps' mean, least and most are ours: {shown} ms", len(shown) == 3 and
          all(abs(a - b) <= 0.11 for a, b in zip(shown, ours)), ours, text)


def see_operators(page, text, dwell, space):
    shown = {row["Operation Name"]: row for row in cells(page, "Operation Name")}
    ours = {row["name"]: row for row in report(dwell, space, "operators")[None]}
    check(f"op stats: {len(shown)} operators, all of ours", set(ours) <= set(shown), sorted(ours), sorted(shown))
    for name in sorted(ours, key=lambda name: -ours[name]["self_ns"])[:5]:
        row = shown.get(name, {})
        us = next((value for key, value in row.items() if key.startswith("Total self-time (us)")), "0")
        check(f"op stats: {name}, {us} us in {row.get('#Occurrences')} calls",
              abs(float(us.replace(",", "")) - ours[name]["self_ns"] / 1e3) <= 1 and
              int(row.get("#Occurrences", "0").replace(",", "")) == ours[name]["calls"], row, ours[name])


def see_memory(page, text, dwell, space):
    views = report(dwell, space, "memory")
    peak = sum(row["peak_bytes"] for row in views["peak"])
    shown = number_after(text, "Heap Allocation:")
    check(f"memory: the peak, {shown} MiB", shown is not None and abs(shown - peak / 2**20) <= 0.006, peak, text)
    names = {row["Op Name"] for row in cells(page, "Op Name")}
    ours = {row["holder"].replace(" ", "_") if row["holder"][0] != "(" else row["holder"] for row in views["peak"]}
    check(f"memory: whose it is: {', '.join(sorted(names))}", names and names <= ours, ours)


def see_trace(page, text, dwell, space):
    """The viewer paints on a canvas; its words are in what it has fetched."""
    check("trace viewer: its canvas is painted",
          until(page, lambda: any(frame.locator("canvas").count() for frame in page.frames)), text)


def check_tools(page, web, run, space, dwell, shots):
    host = os.path.basename(space)[:-len(".xplane.pb")]
    base = f"http://localhost:{web}/data/plugin/profile"
    tools = json.loads(fetch(f"{base}/run_tools?run={run}"))
    see = {"overview_page": see_overview, "input_pipeline_analyzer": see_steps, "framework_op_stats": see_operators,
           "memory_profile": see_memory, "trace_viewer": see_trace}
    page.goto("about:blank")
    page.goto(f"http://localhost:{web}/#profile", timeout=240000)
    page.frame_locator("iframe").locator("mat-select").nth(1).wait_for(timeout=240000)
    for tool, (label, text) in TOOLS.items():
        name = next((name for name in tools if name.split("^")[0].rstrip("@") == tool), None)
        check(f"the plugin offers {tool}", name is not None, tools)
        if not name:
            continue
        try:
            choose(page, label)
            body = wait_for(page, text)
            shoot(page, shots, "tensorboard-" + tool.replace("_", "-"))
            check(f"{label}: opens without an error", "Error" not in body and "Not found" not in body, body[:600])
            see[tool](page, body, dwell, space)
        except Exception as error:  # the other tools tell more
            check(f"{label}: {type(error).__name__}: {error}", False)
    names = {event.get("name") for event in json.loads(fetch(f"{base}/data?run={run}&tag=trace_viewer&host={host}"))
             ["traceEvents"]}
    ours = {row["name"] for row in report(dwell, space, "operators")[None]}
    check("trace viewer: has all operators", all(any(str(name).startswith(one) for name in names) for one in ours),
          sorted(map(str, names))[:40])


def check_tensorboard(port, folder, dwell, shots, milliseconds):
    from playwright.sync_api import sync_playwright
    web = h2.free_port()
    tensorboard = os.path.join(os.path.dirname(sys.executable), "tensorboard")
    os.makedirs(folder)
    with open(os.path.join(folder, "..", "tensorboard.log"), "w", encoding="utf-8") as log:
        server = subprocess.Popen([tensorboard, "--logdir", folder, "--port", str(web)], stdout=log, stderr=log)
    try:
        h2.wait_port(web, 120)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1200, "height": 760})
            page.route("**/*", answer)
            capture(page, web, port, shots, milliseconds)
            try:
                run, host = wait_for_run(page, folder, 60 + 2 * milliseconds / 1000)
            except TimeoutError:
                shoot(page, shots, "failed")
                with open(log.name, encoding="utf-8", errors="replace") as file:
                    check("CAPTURE PROFILE stores a capture", False, file.read()[-300:], whole_text(page)[-300:])
                return
            check("CAPTURE PROFILE stores a capture", True)
            page.wait_for_timeout(3000)
            space = os.path.join(folder, "plugins", "profile", run, host + ".xplane.pb")
            page.set_viewport_size({"width": 1200, "height": 900})
            check_tools(page, web, run, space, dwell, shots)
            browser.close()
    finally:
        server.terminate()
        server.wait(20)


def main():
    arguments = sys.argv[1:]
    shots = None
    if "--shots" in arguments:
        at = arguments.index("--shots")
        shots = os.path.abspath(arguments[at + 1])
        os.makedirs(shots, exist_ok=True)
        del arguments[at:at + 2]
    if not shutil.which("chromium"):
        print("skip TensorBoard in Chromium: chromium is not installed")
        return 77
    port = h2.free_port()
    with tempfile.TemporaryDirectory() as folder:
        # The clients start slowly where the program takes the processors from them.
        program = subprocess.Popen(["nice", "-n", "5", os.path.abspath(arguments[0]), "run", "--serve", str(port), "-o",
                                    os.path.join(folder, "run.dwell"), *arguments[1:]],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            h2.wait_port(port)
            milliseconds = check_grpc(port)
            check_jax(port, os.path.join(folder, "jax"), milliseconds)
            check_tensorboard(port, os.path.join(folder, "logs"), os.path.abspath(arguments[0]), shots, milliseconds)
            check("the program has run through it all", program.poll() is None)
        finally:
            with contextlib.suppress(ProcessLookupError):
                program.terminate()
            program.wait(30)
    print(f"{passed} passed, {failures} failed")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
