"""TensorBoard, XProf and JAX as clients of the capture service, as people use them.

usage: tensorboard_test.py DWELL PROGRAM [ARGUMENT...] [--shots FOLDER]

Under tools/tensorboard_venv's Python. Captures from PROGRAM, which runs for minutes if it
is let: with `python -m jax.collect_profile`, with gRPC's own client, and through TensorBoard
in Chromium: CAPTURE PROFILE, address and milliseconds typed in, then every tool of the
captured run. --shots keeps pictures of them.
"""
import contextlib
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "serve"))
import h2  # noqa: E402

failures = 0


def check(what, holds, *seen):
    global failures
    print("ok  " if holds else "FAIL", what, *(seen if not holds else ()), flush=True)
    failures += not holds


def fetch(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        data = answer.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


# ---- other clients --------------------------------------------------------------------------

def check_jax(port, folder):
    done = subprocess.run([sys.executable, "-m", "jax.collect_profile", str(port), "1500", "--log_dir", folder,
                           "--no_perfetto_link"], capture_output=True, text=True, timeout=120)
    check("jax.collect_profile ends well", done.returncode == 0, done.stderr[-500:])
    files = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    space = next((name for name in files if name.endswith(".xplane.pb")), None)
    check("and has stored a capture", space is not None, files)
    if space:
        with open(space, "rb") as file:
            counts = h2.events(file.read())
        check("of the program's operators and steps", counts.get("train", 0) > 0 and len(counts) > 1, counts)


def check_grpc(port):
    import grpc
    raw = {"request_serializer": bytes, "response_deserializer": bytes}
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.max_receive_message_length", -1)]) as channel:
        profile = channel.unary_unary(h2.SERVICE + "Profile", **raw)
        reply = profile(h2.profile_request(300), timeout=30)
        check("gRPC's client is answered", len(h2.events(h2.tool_data(reply))) > 1)
        for path in (h2.SERVICE + "Monitor", "/tensorflow.ProfileAnalysis/NewSession"):
            try:
                channel.unary_unary(path, **raw)(b"", timeout=10)
                check(f"{path} is UNIMPLEMENTED", False)
            except grpc.RpcError as error:
                check(f"{path} is UNIMPLEMENTED", error.code() == grpc.StatusCode.UNIMPLEMENTED, error)
        long = profile.future(h2.profile_request(600000, session="long"), timeout=60)
        time.sleep(0.5)
        try:
            profile(h2.profile_request(100), timeout=10)
            check("busy: ALREADY_EXISTS", False)
        except grpc.RpcError as error:
            check("busy: ALREADY_EXISTS", error.code() == grpc.StatusCode.ALREADY_EXISTS, error)
        long.cancel()
        time.sleep(0.3)
        check("cancelled: the next is served", len(profile(h2.profile_request(100), timeout=30)) > 0)
        long = profile.future(h2.profile_request(600000, session="long"), timeout=60)
        time.sleep(0.5)
        channel.unary_unary(h2.SERVICE + "Terminate", **raw)(h2.field(1, "long"), timeout=10)
        check("Terminate: answered with what there is", len(long.result(timeout=30)) > 0)


# ---- TensorBoard ----------------------------------------------------------------------------

def shoot(page, shots, name):
    if shots:
        page.screenshot(path=os.path.join(shots, name + ".png"))


def capture(page, web, port, shots):
    """CAPTURE PROFILE, as a person does."""
    page.goto(f"http://localhost:{web}/#profile", timeout=60000)
    button = page.frame_locator("iframe").get_by_role("button", name="CAPTURE PROFILE").first
    button.click(timeout=60000)
    frame = next(frame for frame in page.frames if "plugin/profile" in frame.url)
    inputs = frame.locator("mat-dialog-container input")
    inputs.first.wait_for(timeout=20000)
    inputs.nth(0).fill(f"localhost:{port}")
    duration = next(inputs.nth(i) for i in range(inputs.count()) if inputs.nth(i).input_value() == "1000")
    duration.fill("1500")
    shoot(page, shots, "tensorboard-capture")
    frame.locator("mat-dialog-container").get_by_role("button", name="CAPTURE").click()


def wait_for_run(folder, seconds=60):
    """(run, host) of what TensorBoard has stored."""
    at = os.path.join(folder, "plugins", "profile")
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for run in os.listdir(at) if os.path.isdir(at) else ():
            for name in os.listdir(os.path.join(at, run)):
                if name.endswith(".xplane.pb"):
                    return run, name[:-len(".xplane.pb")]
        time.sleep(0.2)
    raise TimeoutError("TensorBoard has stored no capture")


def check_tools(page, web, run, host, shots):
    base = f"http://localhost:{web}/data/plugin/profile"
    tools = json.loads(fetch(f"{base}/run_tools?run={run}"))
    wanted = {"overview_page": "Performance Summary", "trace_viewer": None, "framework_op_stats": None,
              "memory_profile": None}
    for tool, text in wanted.items():
        name = next((name for name in tools if name.split("^")[0].rstrip("@") == tool), None)
        check(f"the plugin offers {tool}", name is not None, tools)
        if not name:
            continue
        data = fetch(f"{base}/data?run={run}&tag={name}&host={host}")
        check(f"{tool}: data", len(data) > 300, data[:300])
        page.goto(f"{base}/{name}?run={run}&tag={name}&host={host}", timeout=60000)
        page.wait_for_timeout(8000)
        body = page.locator("body").inner_text()
        check(f"{tool}: opens without an error",
              "rror" not in body.replace("No error", "") and (not text or text in body), body[:600])
        shoot(page, shots, "tensorboard-" + tool.replace("_", "-"))


def check_tensorboard(port, folder, shots):
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
            capture(page, web, port, shots)
            run, host = wait_for_run(folder)
            check("CAPTURE PROFILE stores a capture", True)
            page.wait_for_timeout(3000)
            check_tools(page, web, run, host, shots)
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
        program = subprocess.Popen([os.path.abspath(arguments[0]), "run", "--serve", str(port), "-o",
                                    os.path.join(folder, "run.dwell"), *arguments[1:]],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            h2.wait_port(port)
            time.sleep(3)  # its first steps
            check_grpc(port)
            check_jax(port, os.path.join(folder, "jax"))
            check_tensorboard(port, os.path.join(folder, "logs"), shots)
            check("the program has run through it all", program.poll() is None)
        finally:
            with contextlib.suppress(ProcessLookupError):
                program.terminate()
            program.wait(30)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
