#!/usr/bin/env python3
"""dwell capture against XLA's profiler server in JAX, and against dwell serve.

usage: capture_test.py BUILD_FOLDER      (under a Python with JAX)      last line: N passed, N failed
"""
import csv
import io
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

JAX = """
import jax, jax.numpy as jnp, sys, time
@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
w, x = jnp.ones((128, 128)), jnp.ones((256, 128))
w = step(w, x)
server = jax.profiler.start_server(int(sys.argv[1]))
print("ready", flush=True)
number = 0
while True:
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        with jax.profiler.TraceAnnotation("napping"):
            time.sleep(0.02)
        w = step(w, x).block_until_ready()
    number += 1
"""
OURS = """
import ctypes, sys, time
dwell = ctypes.CDLL("libdwell.so")
dwell.dwell_intern.restype = ctypes.c_uint32
nap = None
print("ready", flush=True)
while True:
    nap = nap or dwell.dwell_intern(0, b"napping", None)
    dwell.dwell_step_begin()
    began = dwell.dwell_begin_id(nap, 0)
    time.sleep(0.02)
    dwell.dwell_end_id(began)
    dwell.dwell_step_end()
"""
counts = {True: 0, False: 0}


def check(condition, what):
    counts[bool(condition)] += 1
    if not condition:
        print(f"FAILED: {what}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def run(*command, **more):
    done = subprocess.run([dwell, *command], capture_output=True, text=True, timeout=600, **more)
    return done.returncode, done.stdout.strip(), done.stderr


def rows(view, path):
    code, out, err = run("report", "--view", view, "--format", "csv", path)
    check(code == 0, f"{view}: {err}")
    return list(csv.DictReader(io.StringIO(out)))


def until_answered(port):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    check(False, f"nobody listens at {port}")


def captures(name, port, folder):
    address = f"localhost:{port}"
    code, path, err = run("capture", address, "--duration", "700ms", "-o", folder)
    check(code == 0, f"{name}: {code} {err}")
    check(re.fullmatch(re.escape(folder) +
                       rf"/plugins/profile/[0-9_]+/localhost_{port}\.xplane\.pb", path), f"{name}: {path}")
    steps = rows("steps", path)
    check(5 <= len(steps) <= 36, f"{name}: {len(steps)} steps in 700 ms")
    numbers = [int(row["step"]) for row in steps]
    check(sorted(numbers) == list(range(min(numbers), max(numbers) + 1)), f"{name}: steps {numbers}")
    naps = [row for row in rows("calls", path) if row["name"] == "napping"]
    check(len(naps) == 1 and abs(int(naps[0]["calls"]) - len(steps)) <= 2 and
          int(naps[0]["p50_ns"]) >= 19_900_000, f"{name}: {naps}")

    # one at a time; Ctrl-C ends it early and keeps what there is
    first = subprocess.Popen([dwell, "capture", address, "--duration", "60s", "-o", folder + "/early"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    code, out, err = run("capture", address, "-o", folder)
    check(code == 1 and "captured already" in err, f"{name}, busy: {code} {err}")
    first.send_signal(signal.SIGINT)
    out, err = first.communicate(timeout=600)
    check(first.returncode == 0 and os.path.exists(out.strip()), f"{name}, Ctrl-C: {first.returncode} {err}")
    check(os.path.exists(out.strip()) and len(rows("steps", out.strip())) >= 5, f"{name}, Ctrl-C: steps")

    code, path, err = run("capture", address, "--duration", "100ms", "--delay", "300ms", "-o", folder)
    check(code == 0, f"{name}, delayed: {err}")


def refusals(folder):
    for arguments, status, words in (
            (["localhost"], 2, "give HOST:PORT"), ([], 2, "nothing to capture from"),
            (["localhost:1", "--duration", "5"], 2, "with its unit"),
            (["localhost:1", "--duration", "0s"], 2, "1ms at least"),
            (["localhost:1", "--duration", "1500m"], 2, "60m at most"),
            ([f"localhost:{free_port()}"], 1, "profiler server running there"),
            (["no-such-host.invalid:1"], 1, "no host"), (["localhost:1", "-o", "/dev/null/x"], 1, "-o")):
        code, out, err = run("capture", *arguments, cwd=folder)
        check(code == status and words in err, f"{arguments}: {code} {err}")
    # a server that speaks another protocol, and one that hangs up
    for answer in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b""):
        with socket.create_server(("127.0.0.1", 0)) as server:
            client = subprocess.Popen([dwell, "capture", f"127.0.0.1:{server.getsockname()[1]}"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
            connection = server.accept()[0]
            connection.sendall(answer)
            connection.close()
            out, err = client.communicate(timeout=600)
            check(client.returncode == 1 and "no profiler server" in err, f"{answer}: {err}")


build = os.path.abspath(sys.argv[1])
dwell = os.path.join(build, "dwell")
with tempfile.TemporaryDirectory() as folder:
    refusals(folder)
    for name, source in (("JAX", JAX), ("dwell serve", OURS)):
        script, port = os.path.join(folder, "program.py"), free_port()
        with open(script, "w", encoding="utf-8") as file:
            file.write(source)
        own = name != "JAX"
        command = [sys.executable, script, str(port)]
        if own:
            command = [dwell, "run", "-o", folder + "/own.dwell", "--serve", str(port), "--", *command]
        program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=dict(os.environ, LD_LIBRARY_PATH=build), start_new_session=True)
        try:
            program.stdout.readline()
            until_answered(port)
            captures(name, port, os.path.join(folder, name.replace(" ", "-")))
        finally:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
print(f"{counts[True]} passed, {counts[False]} failed")
sys.exit(1 if counts[False] else 0)
