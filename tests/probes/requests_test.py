#!/usr/bin/env python3
"""The view requests against the times that servers take themselves: threads that come and go, marked requests in C and in Python, responses
of WSGI; tasks of pools, and waits for the interpreter's lock.

usage: requests_test.py BUILD_FOLDER      last line: N passed, N failed
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
DWELL = os.path.join(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build"), "dwell")

SERVER = """
import http.server, json, socketserver, threading, time, urllib.request

own = []

def model(n):
    return sum([i * i for i in range(n)])

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        n = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["n"]
        time.sleep(0.004)
        body = json.dumps(model(n)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass

class Server(http.server.ThreadingHTTPServer):
    def process_request_thread(self, *arguments):
        begin = time.perf_counter_ns()
        super().process_request_thread(*arguments)
        own.append(time.perf_counter_ns() - begin)

server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever).start()

def client():
    for _ in range(25):
        urllib.request.urlopen("http://127.0.0.1:%d/" % server.server_port, b'{"n": 200000}').read()

clients = [threading.Thread(target=client) for _ in range(4)]
for one in clients:
    one.start()
for one in clients:
    one.join()
server.shutdown()
while len(own) < 100:
    time.sleep(0.001)
print(json.dumps(sorted(own)))
"""

POOL = """
from concurrent.futures import ThreadPoolExecutor

def work(n):
    return sum([i * i for i in range(n)])

with ThreadPoolExecutor(8) as pool:
    print(sum(pool.map(work, [20000] * 100)))
"""


# A server of WSGI under a stand-in for Flask, with responses of all kinds. `own` is the server's log.
FLASK = """
class Flask:
    def wsgi_app(self, environ, start_response):
        start_response("200 OK", [])
        return environ["make"]()
"""
WSGI = """
import gc, json, threading, time
from flask.app import Flask
own, app = [], Flask()
class Closed:
    def __init__(self, pieces): self.pieces, self.closed, self.place = iter(pieces), 0, "here"
    def __iter__(self): return self
    def __next__(self): return next(self.pieces)
    def close(self): self.closed += 1
now = time.perf_counter_ns
def serve(make):
    times = [[now(), 0], [], [], 0]
    def stream():
        times[0][1] = now()
        time.sleep(.002)
        yield b""
        for i in range(5):
            time.sleep(.001)
            times[1] = times[1] or [now()]
            yield b"piece"
        times[2].append(now())
    def fails():
        times[0][1], times[1] = now(), [now()]
        yield b"piece"
        times[2].append(now())
        raise KeyError("in the middle")
    response = app.wsgi_app({"make": lambda: make(fails() if make is fail else stream())}, lambda *arguments: None)
    try:
        for piece in response:
            if piece:
                if len(times[1]) == 1:
                    times[1].append(now())
                times[3] += 1
    except KeyError:
        pass
    times[2].append(now())
    if hasattr(response, "close"):
        response.close()
    own.append(times)
    return response
def plain(stream): return stream
def fail(stream): return stream
def client():
    for i in range(20):
        serve(plain)
        closed = serve(Closed)
        assert isinstance(closed, Closed) and closed.closed == 1 and closed.place == "here"
clients = [threading.Thread(target=client) for _ in range(4)]
for one in clients: one.start()
for one in clients: one.join()
pieces = app.wsgi_app({"make": lambda: [b"one", b"two"]}, lambda *arguments: None)
assert pieces == [b"one", b"two"] and type(pieces) is list
serve(fail)
try:
    app.wsgi_app({}, lambda *arguments: None)
except KeyError as error:
    assert error.args == ("make",)
left = app.wsgi_app({"make": lambda: (piece for piece in [b""])}, lambda *arguments: None)
assert left.gi_frame is not None and next(left) == b""
del left
gc.collect()
print(json.dumps(own))
"""

MARKED = """
import json, threading, time, dwell
own = []
def timed(call, *arguments):
    before = time.perf_counter_ns()
    result = call(*arguments)
    return [before, time.perf_counter_ns()], result
def serve(n):
    begin, request = timed(dwell.request, "generate")
    with request:
        time.sleep(.001)
        stage = timed(request.stage, "prefill")[0]
        time.sleep(.002)
        first = timed(request.tokens)[0]
        request.stage("decode")
        for _ in range(4):
            time.sleep(.001)
            last = timed(request.tokens, 2)[0]
        before = time.perf_counter_ns()
    own.append([*begin, *stage, *first, *last, before, time.perf_counter_ns(), 9])
threads = [threading.Thread(target=lambda: [serve(n) for n in range(20)]) for _ in range(3)]
for one in threads: one.start()
for one in threads: one.join()
print(json.dumps(own))
"""


def quantiles(values):
    values = sorted(values)
    return {name: values[min(len(values) - 1, len(values) * percent // 100)]
            for name, percent in (("p50_ns", 50), ("p90_ns", 90), ("p99_ns", 99), ("max_ns", 100))}


class Requests(unittest.TestCase):
    def record(self, folder, text):
        program, trace = os.path.join(folder, "program.py"), os.path.join(folder, "program.dwell")
        with open(program, "w", encoding="utf-8") as file:
            file.write(text)
        out = subprocess.run([DWELL, "run", "-o", trace, sys.executable, program], check=True, capture_output=True, text=True,
                             env=dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python")))
        return trace, out.stdout

    def report(self, trace, *options):
        return subprocess.run([DWELL, "report", trace, *options], check=True, capture_output=True, text=True).stdout

    def rows(self, trace):
        view = json.loads(self.report(trace, "--view", "requests", "--format", "json"))
        view = view if "columns" in view else view["views"][0]
        names = [column["name"] for column in view["columns"]]
        return [dict(zip(names, row["cells"] if isinstance(row, dict) else row)) for row in view["rows"]]

    def test_requests(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, out = self.record(folder, SERVER)
            own = json.loads(out)
            rows = self.rows(trace)
            first = self.report(trace)
        named = [row for row in rows if row["count"] == 100 and not row["name"].startswith(("POST", "to the", "a further"))]
        self.assertEqual(len(named), 1, rows)
        self.assertEqual([row["count"] for row in rows if row["name"] == "POST /"], [100], rows)
        # A thread lives a little longer than the function that it runs, and waits before for the lock.
        for name, truth in ("mean_ns", sum(own) / 100), ("p50_ns", own[50]), ("p95_ns", own[95]), ("max_ns", own[99]):
            self.assertGreater(named[0][name], truth * 0.98, (name, truth, rows))
            self.assertLess(named[0][name], truth * 1.5 + 20e6, (name, truth, rows))
        self.assertLessEqual(named[0]["at_once"], 20)
        parts = rows[rows.index(named[0]) + 1:]
        parts = {row["name"]: row for row in parts[:next((i for i, row in enumerate(parts) if row["count"]), len(parts))]}
        self.assertIn("model", parts["uses the CPU"]["most"])
        self.assertGreater(parts["waits: interpreter's lock"]["mean_ns"], 0)
        self.assertGreater(parts["sleeps"]["mean_ns"], 0)
        self.assertLess(parts["sleeps"]["mean_ns"], 80e6)
        self.assertIn("do_POST", parts["sleeps"]["most"])
        self.assertAlmostEqual(sum(row["share"] for row in parts.values()), 1, delta=0.5)
        self.assertIn("short threads", first)
        self.assertNotIn("hold the lock for less time", first)  # who joins a thread waits for that thread

    def tables(self, trace):
        views = json.loads(self.report(trace, "--view", "requests", "--format", "json", "--limit", "all"))["views"]
        return {view.get("part"): [dict(zip([column["name"] for column in view["columns"]], row)) for row in view["rows"]]
                for view in views}

    def check_quantiles(self, row, times):
        """Of `times`, each a pair: the least and the most that it can be by the server's own log, which reads the clock before and after
        each mark."""
        least, most = (quantiles([pair[at] for pair in times]) for at in (0, 1))
        for name in least:
            self.assertLessEqual(least[name] - 1000, row[name], (name, row))
            self.assertGreaterEqual(most[name] + 1000, row[name], (name, row))

    def check_log(self, tables, own):
        def between(row, at, to):
            return max(row[2 * to] - row[2 * at + 1], 0), row[2 * to + 1] - row[2 * at]
        rows = {row["name"]: row for row in tables[None]}
        self.assertEqual(rows["generate"]["count"], len(own))
        self.check_quantiles(rows["generate"], [between(row, 0, 4) for row in own])
        self.check_quantiles(rows["waits for its first stage"], [between(row, 0, 1) for row in own])
        self.check_quantiles(rows["to the first token"], [between(row, 0, 2) for row in own])
        self.check_quantiles(rows["a further token"], [[ns / (row[-1] - 1) for ns in between(row, 2, 3)] for row in own if row[-1] > 1])
        self.assertEqual((tables["tokens"][0]["requests"], tables["tokens"][0]["tokens"]), (len(own), sum(row[-1] for row in own)))

    def run_program(self, folder, *arguments, name="requests_program.c"):
        binary, trace = os.path.join(folder, "program"), os.path.join(folder, "program.dwell")
        subprocess.run([*os.environ.get("CC", "cc").split(), "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-result", "-pthread",
                        "-I" + os.path.join(ROOT, "include"), "-o", binary, os.path.join(ROOT, "tests/probes", name),
                        os.path.join(BUILD, "libdwell.so.0"), "-Xlinker", "-rpath", "-Xlinker", BUILD], check=True)
        out = subprocess.run([DWELL, "run", "-o", trace, binary, *arguments], capture_output=True, text=True, timeout=120)
        return trace, [[int(word) for word in line.split()] for line in out.stdout.splitlines()], out.returncode

    def test_marked_in_c(self):
        for kill in (), ("kill",):
            with self.subTest(kill=kill), tempfile.TemporaryDirectory() as folder:
                trace, own, code = self.run_program(folder, "8", "15", *kill)
                self.assertEqual((len(own), code != 0), (120, bool(kill)))
                tables = self.tables(trace)
                self.check_log(tables, own)
                batches = tables["batches"]
                self.assertEqual(round(sum(row["count"] * row["tokens"] for row in batches if row["tokens"])), sum(row[-1] for row in own))
                self.assertLessEqual(max(sum(map(int, re.findall(r"\d+", row["name"]))) for row in batches), 4)
                self.assertIn("120 requests generate", self.report(trace))

    def test_unmarked(self):
        """Turns of connections that the program accepted, against its own log."""
        for kind, routes, *kill in (("http", ["GET /health", "POST /v1/users/*/chat", "PUT /models"]), ("text", ["request"]),
                                    ("http", ["GET /health", "POST /v1/users/*/chat", "PUT /models"], "kill"),
                                    ("binary", []), ("secure", [])):
            with self.subTest(kind=kind, kill=kill), tempfile.TemporaryDirectory() as folder:
                trace, own, code = self.run_program(folder, kind, "4", "30", *kill, name="answered_program.c")
                self.assertEqual((len(own), code != 0), (120, bool(kill)))
                tables = self.tables(trace)
                rows = [row for row in tables[None] if row["name"].startswith(("GET", "POST", "PUT", "request"))]
                self.assertEqual(sorted((row["name"], row["count"]) for row in rows), [(route, 120 // len(routes)) for route in routes])
                self.assertEqual("TLS" in self.report(trace, "--view", "requests"), kind == "secure")
                if not routes:
                    continue
                log = sorted([row[0], row[2] - row[1], row[3] - row[0], row[4] - row[1], row[5] - row[0], row[6]] for row in own)
                served = self.query(trace, "select start_ns, first_ns, duration_ns, tokens from served order by start_ns")
                self.assertEqual([row[-1] for row in served], [row[-1] for row in log])
                for row, (_, least_first, most_first, least, most, _sends) in zip(served, log):
                    self.assertTrue(least_first - 1000 <= row[1] <= most_first + 1000 and least - 1000 <= row[2] <= most + 1000, (row, least_first, most_first, least, most))

    def query(self, trace, text):
        out = subprocess.run([DWELL, "query", trace, text, "--format", "csv"], check=True, capture_output=True, text=True).stdout
        return [[int(cell) for cell in line.split(",")] for line in out.splitlines()[1:]]

    def test_many(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, _, code = self.run_program(folder, "many", "100000")
            tables = self.tables(trace)
        self.assertEqual((code, tables[None][0]["count"], tables["tokens"][0]["tokens"]), (0, 100000, 400000))

    def test_marked_in_python(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, out = self.record(folder, MARKED)
            self.check_log(self.tables(trace), json.loads(out))

    def test_responses(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "flask"))
            for name, text in ("__init__", ""), ("app", FLASK):
                with open(os.path.join(folder, "flask", name + ".py"), "w", encoding="utf-8") as file:
                    file.write(text)
            trace, out = self.record(folder, WSGI)
            own = json.loads(out)
            tables = self.tables(trace)
        rows = {row["name"]: row for row in tables[None]}
        # Four clients, the list, one that fails in the middle, one that fails at once, one that nobody reads to its end.
        self.assertEqual(rows["Flask.wsgi_app"]["count"], len(own) + 3)
        self.assertEqual(tables["tokens"][0]["tokens"], sum(row[3] for row in own))
        self.check_quantiles(rows["to the first chunk"], [(max(first[0] - begin[1], 0), first[1] - begin[0]) for begin, first, _, _ in own])
        self.assertGreaterEqual(rows["Flask.wsgi_app"]["max_ns"], max(end[0] - begin[1] for begin, _, end, _ in own))
        self.assertLessEqual(rows["Flask.wsgi_app"]["max_ns"], max(end[1] - begin[0] for begin, _, end, _ in own))
        self.assertIn("sleeps", rows)

    def test_pool(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, _ = self.record(folder, POOL)
            rows = [row for row in self.rows(trace) if row["count"]]
            first = self.report(trace)
            self.assertEqual([(row["name"], row["count"]) for row in rows], [("work", 100)])
            self.assertLessEqual(rows[0]["at_once"], 8)
            self.assertIn("100 tasks work", first)
            self.assertIn("interpreter's lock", self.report(trace, "--view", "account", "--limit", "all") +
                          self.report(trace))


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False, verbosity=1).result
    failed = len(result.failures) + len(result.errors)
    print("%d passed, %d failed" % (result.testsRun - failed, failed))
    sys.exit(failed > 0)
